// SPDX-License-Identifier: MIT
/** The requests of a run as columns, from wherever they come; and those of the simulator's module. */
import type { Rows } from "../simulator/module.ts";

const NS_PER_MS = 1e6;

/** A row for each request, in order of arrival; times in ms. */
export interface Columns {
  arrival: Float64Array;
  dispatch: Float64Array;
  start: Float64Array;
  completion: Float64Array;
  sector: Float64Array;
  sectors: Uint32Array;
  owner: Uint32Array;
  /** 0: read, 1: write, 2: other. */
  op: Uint8Array;
  /** enum pick_reason in core/request.h; 255: unknown. */
  reason: Uint8Array;
  hit: Uint8Array;
}

export function columnsOf(rows: Rows): Columns {
  const { sectors, owner, op, reason, hit } = rows;
  return {
    arrival: inMs(numbersOf(rows.arrival_ns)),
    dispatch: inMs(numbersOf(rows.dispatch_ns)),
    start: inMs(numbersOf(rows.start_ns)),
    completion: inMs(numbersOf(rows.completion_ns)),
    sector: numbersOf(rows.sector),
    sectors,
    owner,
    op,
    reason,
    hit,
  };
}

/** Turn ns into ms, in place. */
export function inMs(times: Float64Array): Float64Array {
  for (let i = 0; i < times.length; i++) times[i]! /= NS_PER_MS;
  return times;
}

/** Return numbers from 0 to 2^53 as doubles; a million BigInts would take longer than the run. */
function numbersOf(values: BigInt64Array): Float64Array {
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32;
  return numbers;
}
