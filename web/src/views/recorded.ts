// SPDX-License-Identifier: MIT
/**
 * A run, prepared for drawing: the orders in which things happened, and the extremes of what is
 * drawn.  A worker makes it if there may be many requests.
 */
import type { Columns } from "./columns.ts";
import { extremesOf, type Extremes } from "./extremes.ts";
import type { Mechanics } from "./mechanics.ts";
import { countTo, orderOf } from "./order.ts";

/** enum pick_reason in core/request.h; completes "picked because". */
const REASONS = [
  "it is next in the scheduler's order",
  "the scheduler expected it in the disk's cache",
  "it is first of the optimal order",
  "its deadline was exceeded",
  "the scheduler had waited for it",
  "it is part of a burst of writes",
];

export interface Recorded extends Columns {
  /** Rows in the order in which the device began them, and when. */
  begun: Uint32Array;
  begunAt: Float64Array;
  /** Where the head went: when, to which row's sector.  Hits in the cache do not move it. */
  movedAt: Float64Array;
  moved: Uint32Array;
  heads: Extremes;
  /** Dispatch times in ascending order, and the number that waits after each arrival, dispatch. */
  dispatches: Float64Array;
  most: Extremes;
  fewest: Extremes;
  /** How many requests the run has; the rows may be some of them only, from `first` on. */
  requests: number;
  first: number;
  /** Response times in ascending order: of all requests, or quantiles of all. */
  responses: Float64Array;
  end: number;
  disk: Mechanics | null;
}

export interface More {
  disk: Mechanics | null;
  requests?: number;
  first?: number;
  responses?: Float64Array | null;
}

export function recordedOf(columns: Columns, { disk, requests, first, responses }: More): Recorded {
  const { arrival, dispatch, start, completion, sector, sectors, hit } = columns;
  const begun = orderOf(start);
  const moved = begun.filter((row) => !hit[row] && sectors[row]);
  const dispatches = dispatch.slice().sort();
  return {
    ...columns,
    begun,
    begunAt: taken(start, begun),
    moved,
    movedAt: taken(start, moved),
    heads: extremesOf(taken(sector, moved)),
    dispatches,
    most: extremesOf(countAfter(arrival, dispatches, 1)),
    fewest: extremesOf(countAfter(dispatches, arrival, -1)),
    requests: requests ?? arrival.length,
    first: first ?? 0,
    responses: responses ?? completion.map((time, i) => time - arrival[i]!).sort(),
    end: completion.reduce((last, time) => Math.max(last, time), 0),
    disk,
  };
}

/** Return the buffers of a recorded run, which may be moved to another thread. */
export function buffersOf(recorded: Recorded): ArrayBuffer[] {
  const trees = [recorded.heads, recorded.most, recorded.fewest];
  const arrays = [...Object.values(recorded), ...trees.flatMap(Object.values)];
  return [...new Set(arrays.filter(ArrayBuffer.isView).map(({ buffer }) => buffer as ArrayBuffer))];
}

/** Return how many requests have arrived and are not dispatched. */
export function waitingAt(recorded: Recorded, time: number): number {
  return countTo(recorded.arrival, time) - countTo(recorded.dispatches, time);
}

/** Return the row that the device began last and has not completed, or null. */
export function servedAt(recorded: Recorded, time: number): number | null {
  const last = countTo(recorded.begunAt, time) - 1;
  const row = recorded.begun[last];
  return row !== undefined && recorded.completion[row]! > time ? row : null;
}

/** Return where the head is, or is going to; null before the first request. */
export function headAt(recorded: Recorded, time: number): number | null {
  const row = recorded.moved[countTo(recorded.movedAt, time) - 1];
  if (row === undefined) return null;
  const served = recorded.completion[row]! <= time;
  return recorded.sector[row]! + (served ? recorded.sectors[row]! : 0);
}

export function reasonOf(recorded: Recorded, row: number): string {
  return REASONS[recorded.reason[row]!] ?? "of an unknown reason";
}

function taken(values: Float64Array, order: Uint32Array): Float64Array {
  const result = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) result[i] = values[order[i]!]!;
  return result;
}

/** Return, for each time, how many more of `times` than of `others` there are up to it, or fewer. */
function countAfter(times: Float64Array, others: Float64Array, sign: 1 | -1): Float32Array {
  const counts = new Float32Array(times.length);
  for (let i = 0, other = 0; i < times.length; i++) {
    while (other < others.length && others[other]! <= times[i]!) other++;
    counts[i] = sign * (i + 1 - other);
  }
  return counts;
}
