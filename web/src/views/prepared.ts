// SPDX-License-Identifier: MIT
/** Packed runs, prepared for drawing. */
import { unpacked } from "./packed.ts";
import { recordedOf, type Recorded } from "./recorded.ts";

export interface Prepared {
  capacity: number; // sectors
  runs: { name: string; recorded: Recorded }[];
}

export function preparedOf(bytes: ArrayBuffer): Prepared {
  const { capacity, disk, runs } = unpacked(bytes);
  const prepare = ({ name, columns, ...more }: (typeof runs)[number]) => ({
    name,
    recorded: recordedOf(columns, { disk, ...more }),
  });
  return { capacity, runs: runs.map(prepare) };
}
