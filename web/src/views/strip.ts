// SPDX-License-Identifier: MIT
/** The disk as a line from its first sector to its last: where the head is, and what waits where. */
import { countTo } from "./order.ts";
import type { Pen } from "./pen.ts";
import { headAt, servedAt, type Recorded } from "./recorded.ts";
import { LEFT } from "./scale.ts";

export const STRIP_PX = 26;
const MOST_LOOKED_AT = 20_000; // rows that are dispatched later, of a queue in which one starves
const HEAD_PX = 5;

/** Return the rows that have arrived and are not dispatched. */
export function waitingRows(recorded: Recorded, time: number): number[] {
  const { begun, begunAt, arrival, dispatch } = recorded;
  const arrived = countTo(arrival, time);
  const rows: number[] = [];
  const first = countTo(begunAt, time);
  const end = Math.min(begun.length, first + MOST_LOOKED_AT);
  const waiting = arrived - countTo(recorded.dispatches, time);
  for (let i = first; i < end && rows.length < waiting; i++) {
    const row = begun[i]!;
    if (row < arrived && dispatch[row]! > time) rows.push(row);
  }
  return rows;
}

export function drawStrip(
  pen: Pen,
  recorded: Recorded,
  time: number,
  capacity: number,
  width: number,
): void {
  const x = (sector: number) => LEFT + (sector / capacity) * (width - LEFT);
  const { sector, op } = recorded;
  pen.box(LEFT, 0, width - LEFT, STRIP_PX, "raised");
  pen.text(LEFT - 6, STRIP_PX - 8, "sector 0", "muted", "end");
  for (const row of waitingRows(recorded, time)) {
    const at = x(sector[row]!);
    pen.line([at, 9, at, STRIP_PX - 3], op[row] ? "second" : "accent");
  }
  const served = servedAt(recorded, time);
  if (served !== null) pen.box(x(sector[served]!) - 1.5, 9, 3, STRIP_PX - 12, "text");
  const head = headAt(recorded, time);
  if (head === null) return;
  const at = x(head);
  pen.line([at - HEAD_PX, 1, at + HEAD_PX, 1, at, 8, at - HEAD_PX, 1], "text", 2);
}
