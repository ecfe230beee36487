// SPDX-License-Identifier: MIT
/**
 * Two runs of one seed, request by request.  A request is known by its process and by its number
 * among the requests of that process, since a process sends the same requests however they are
 * scheduled.
 */
import type { Recorded } from "./recorded.ts";

export interface Aligned {
  /** For each row of the first run, the row of the same request in the second, or NONE. */
  rows: Uint32Array;
  matched: number;
  /** Requests that complete sooner after their arrival in the first run, or in the second. */
  sooner: [number, number];
  /** The first number, from 0, at which the device began different requests; null: none differs. */
  differs: number | null;
}

export const NONE = 2 ** 32 - 1;
const EQUAL_MS = 1e-6;

export function aligned(a: Recorded, b: Recorded): Aligned {
  const rows = rowsIn(a, b);
  const sooner: [number, number] = [0, 0];
  let matched = 0;
  for (let i = 0; i < rows.length; i++) {
    const other = rows[i]!;
    if (other === NONE) continue;
    matched++;
    const gain = b.completion[other]! - b.arrival[other]! - (a.completion[i]! - a.arrival[i]!);
    if (gain > EQUAL_MS) sooner[0]++;
    else if (gain < -EQUAL_MS) sooner[1]++;
  }
  return { rows, matched, sooner, differs: firstDifference(a, b, rows) };
}

function rowsIn(a: Recorded, b: Recorded): Uint32Array {
  const { first, rows, numbers } = byOwner(b);
  const next = first.slice();
  const found = new Uint32Array(a.owner.length).fill(NONE);
  for (let row = 0; row < found.length; row++) {
    const owner = numbers.get(a.owner[row]!);
    if (owner === undefined) continue;
    const place = next[owner]!++;
    if (place >= first[owner + 1]!) continue;
    const other = rows[place]!;
    if (a.sector[row] === b.sector[other]) found[row] = other;
  }
  return found;
}

/** Return numbers of the owners, all rows by these and, for each, the place of its first row. */
function byOwner({ owner }: Recorded) {
  const numbers = new Map<number, number>();
  for (const each of owner) if (!numbers.has(each)) numbers.set(each, numbers.size);
  const numbered = owner.map((each) => numbers.get(each)!);
  const first = new Uint32Array(numbers.size + 1);
  for (const each of numbered) first[each + 1]!++;
  for (let i = 0; i < numbers.size; i++) first[i + 1]! += first[i]!;
  const next = first.slice();
  const rows = new Uint32Array(owner.length);
  for (let row = 0; row < owner.length; row++) rows[next[numbered[row]!]!++] = row;
  return { first, rows, numbers };
}

function firstDifference(a: Recorded, b: Recorded, rows: Uint32Array): number | null {
  const length = Math.min(a.begun.length, b.begun.length);
  for (let i = 0; i < length; i++) {
    // Requests that the device began together, as one, have the order of their arrival.
    if (rows[a.begun[i]!] !== b.begun[i]) return i;
  }
  return a.begun.length === b.begun.length ? null : length;
}
