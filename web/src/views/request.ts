// SPDX-License-Identifier: MIT
/** A request in words. */
import type { Recorded } from "./recorded.ts";
import { whole } from "./scale.ts";

const OPS = ["read", "write", "other request"];

export function requestInWords(recorded: Recorded, row: number): string {
  const waited = recorded.dispatch[row]! - recorded.arrival[row]!;
  const where = `${whole(recorded.sectors[row]!)} sectors at ${whole(recorded.sector[row]!)}`;
  const hit = recorded.hit[row] ? ", in the disk's cache" : "";
  const op = OPS[recorded.op[row]!];
  return `${op} of process ${recorded.owner[row]}, ${where}${hit}, waited ${waited.toFixed(2)} ms`;
}
