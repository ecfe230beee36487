// SPDX-License-Identifier: MIT
/**
 * A simulated run, prepared for drawing: times in ms, the orders in which things happened, and the
 * extremes of what is drawn.  The worker makes it.
 */
import type { Disk } from "../simulator/catalogue.ts";
import type { Rows } from "../simulator/module.ts";
import { extremesOf, type Extremes } from "./extremes.ts";
import { mechanicsOf, type Mechanics } from "./mechanics.ts";
import { countTo, orderOf } from "./order.ts";

const NS_PER_MS = 1e6;

/** enum pick_reason in core/request.h; completes "picked because". */
const REASONS = [
  "it is next in the scheduler's order",
  "the scheduler expected it in the disk's cache",
  "it is first of the optimal order",
  "its deadline was exceeded",
  "the scheduler had waited for it",
  "it is part of a burst of writes",
];

export interface Recorded {
  /** A row for each request, in order of arrival. */
  arrival: Float64Array;
  dispatch: Float64Array;
  start: Float64Array;
  completion: Float64Array;
  sector: Float64Array;
  sectors: Uint32Array;
  owner: Uint32Array;
  op: Uint8Array;
  reason: Uint8Array;
  hit: Uint8Array;
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
  /** Response times in ascending order. */
  responses: Float64Array;
  end: number;
  disk: Mechanics | null;
}

export function recordedOf(rows: Rows, disk: Disk): Recorded {
  const arrival = inMs(rows.arrival_ns);
  const dispatch = inMs(rows.dispatch_ns);
  const start = inMs(rows.start_ns);
  const completion = inMs(rows.completion_ns);
  const sector = numbersOf(rows.sector);
  const begun = orderOf(start);
  const moved = begun.filter((row) => !rows.hit[row]);
  const dispatches = dispatch.slice().sort();
  const responses = completion.map((time, i) => time - arrival[i]!).sort();
  return {
    arrival,
    dispatch,
    start,
    completion,
    sector,
    sectors: rows.sectors,
    owner: rows.owner,
    op: rows.op,
    reason: rows.reason,
    hit: rows.hit,
    begun,
    begunAt: taken(start, begun),
    moved,
    movedAt: taken(start, moved),
    heads: extremesOf(taken(sector, moved)),
    dispatches,
    most: extremesOf(countAfter(arrival, dispatches, 1)),
    fewest: extremesOf(countAfter(dispatches, arrival, -1)),
    responses,
    end: completion.reduce((last, time) => Math.max(last, time), 0),
    disk: mechanicsOf(disk),
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

function inMs(times: BigInt64Array): Float64Array {
  return numbersOf(times).map((time) => time / NS_PER_MS);
}

/** Return numbers from 0 to 2^53 as doubles; a million BigInts would take longer than the run. */
function numbersOf(values: BigInt64Array): Float64Array {
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32;
  return numbers;
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
