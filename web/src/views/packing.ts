// SPDX-License-Identifier: MIT
/** Writes runs as bytes, in the form that packed.ts reads, with what a view needs of them. */
import { countTo } from "./order.ts";
import { curvesOf } from "./mechanics.ts";
import { SCHEMA } from "./packed.ts";
import type { Prepared } from "./prepared.ts";
import type { Recorded } from "./recorded.ts";
import type { Shown } from "./shared.ts";

/** Requests of all runs in a page; understudy_devices/show/report/pictures.py has as many. */
const REQUESTS = 200_000;
const RANKS = 10_000; // a multiple of 1000, so that p99.9 is exact
const NS_PER_MS = 1e6;
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };
const WITHOUT_REQUESTS = ["distribution", "rate"];
/** Views that count the requests of a process from its first one; null: all views. */
const FROM_THE_FIRST = [null, "comparison"];

export function packed(
  { capacity, runs }: Prepared,
  shown: Shown,
  requests = REQUESTS,
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let end = 0;
  const put = (values: Float64Array) => {
    const most = values.reduce((greatest: number, value) => Math.max(greatest, value), 0);
    const type = most < 2 ** 8 ? "u1" : most < 2 ** 16 ? "u2" : most < 2 ** 32 ? "u4" : "f8";
    const array = TYPES[type].from(values);
    const place = end;
    pieces.push(new Uint8Array(array.buffer));
    end += Math.ceil(array.byteLength / 8) * 8;
    return [type, place, values.length];
  };
  const isNeeded = !WITHOUT_REQUESTS.includes(shown.view ?? "");
  const most = isNeeded ? Math.floor(requests / runs.length) : 0;
  const from = runs.length > 1 && FROM_THE_FIRST.includes(shown.view) ? -Infinity : shown.from;
  const header = {
    schema: SCHEMA,
    capacity,
    disk: runs[0]?.recorded.disk ? curvesOf(runs[0].recorded.disk) : null,
    runs: runs.map(({ name, recorded }) => {
      const { first, last } = rowsOf(recorded, from, most);
      const columns = columnsOf(recorded, first, last);
      const isWhole = last - first === recorded.requests;
      return {
        name,
        requests: recorded.requests,
        first,
        columns: Object.fromEntries(columns.map(([key, values]) => [key, put(values)])),
        responses: isWhole ? null : put(ranksOf(recorded.responses)),
      };
    }),
  };
  return joined(header, pieces, end);
}

/** Return which rows are packed: those about a time, in ms. */
function rowsOf({ arrival }: Recorded, from: number, most: number): { first: number; last: number } {
  const before = countTo(arrival, from) - Math.floor(most / 2);
  const first = Math.max(0, Math.min(before, arrival.length - most));
  return { first, last: Math.min(arrival.length, first + most) };
}

function columnsOf(recorded: Recorded, first: number, last: number): [string, Float64Array][] {
  const ns = (times: Float64Array) =>
    times.slice(first, last).map((time) => Math.round(time * NS_PER_MS));
  const [arrival, dispatch] = [ns(recorded.arrival), ns(recorded.dispatch)];
  const [start, completion] = [ns(recorded.start), ns(recorded.completion)];
  const between = (later: Float64Array, earlier: Float64Array) =>
    later.map((time, i) => time - earlier[i]!);
  const plain = (values: ArrayLike<number> & { slice(from: number, to: number): unknown }) =>
    Float64Array.from(values.slice(first, last) as ArrayLike<number>);
  return [
    ["arrival_ns", arrival.map((time, i) => time - (i ? arrival[i - 1]! : 0))],
    ["wait_ns", between(dispatch, arrival)],
    ["delay_ns", between(start, dispatch)],
    ["service_ns", between(completion, start)],
    ["sector", plain(recorded.sector)],
    ["sectors", plain(recorded.sectors)],
    ["owner", plain(recorded.owner)],
    ["op", plain(recorded.op)],
    ["reason", plain(recorded.reason)],
    ["hit", plain(recorded.hit)],
  ];
}

/** Return response times in ns, whose quantiles are those of all. */
function ranksOf(responses: Float64Array): Float64Array {
  const size = Math.min(RANKS, responses.length);
  return Float64Array.from({ length: size }, (_, i) =>
    Math.round(responses[Math.ceil(((i + 1) * responses.length) / size) - 1]! * NS_PER_MS),
  );
}

function joined(header: object, pieces: Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const begin = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(begin + length).fill(0x20, 0, begin); // JSON ends with spaces
  new DataView(bytes.buffer).setUint32(0, begin - 4, true);
  bytes.set(text, 4);
  let place = begin;
  for (const piece of pieces) {
    bytes.set(piece, place);
    place += Math.ceil(piece.length / 8) * 8;
  }
  return bytes;
}
