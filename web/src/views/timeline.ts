// SPDX-License-Identifier: MIT
/**
 * Time lines of single requests: a row a process.  A thin line is the wait from arrival to dispatch,
 * a thick one the time on the device.
 */
import type { Span } from "./head.ts";
import { scaleOf } from "./head.ts";
import { countTo, firstFrom } from "./order.ts";
import type { Pen } from "./pen.ts";
import type { Recorded } from "./recorded.ts";
import { LEFT } from "./scale.ts";

export const ROW_PX = 14;
export const MOST_ROWS = 24;
/** A span with more requests than this shows no single ones. */
export const MOST_REQUESTS = 1000;
const AT_ONCE = 64; // requests in a drive; the first of them may have begun before the span
const TICK_PX = 3;

export interface Shown {
  /** Rows that wait or are served in the span. */
  rows: number[];
  /** Their processes, in ascending order. */
  processes: number[];
}

/** Return the requests of a span; null if they are too many to be seen. */
export function requestsIn(recorded: Recorded, { from, to }: Span): Shown | null {
  const { begun, begunAt, arrival, completion, owner } = recorded;
  const first = firstFrom(begunAt, from);
  if (countTo(begunAt, to) - first > MOST_REQUESTS) return null;
  const rows: number[] = [];
  const waiting = countTo(arrival, to);
  for (let i = Math.max(0, first - AT_ONCE); i < begun.length && rows.length < waiting; i++) {
    const row = begun[i]!;
    if (row < waiting && completion[row]! >= from) rows.push(row);
  }
  const processes = [...new Set(rows.map((row) => owner[row]!))].sort((a, b) => a - b);
  return { rows, processes };
}

export function drawRequests(
  pen: Pen,
  recorded: Recorded,
  span: Span,
  shown: Shown,
  width: number,
): void {
  const processes = shown.processes.slice(0, MOST_ROWS);
  const height = ROW_PX * processes.length;
  const x = scaleOf(span, width);
  const inside = (time: number) => Math.min(Math.max(x(time), LEFT), width);
  pen.box(LEFT, 0, width - LEFT, height, "raised");
  const place = new Map(processes.map((owner, i) => [owner, ROW_PX * i]));
  for (const [owner, top] of place)
    pen.text(LEFT - 6, top + ROW_PX - 3, `process ${owner}`, "muted", "end");
  for (const row of shown.rows) {
    const top = place.get(recorded.owner[row]!);
    if (top === undefined) continue;
    const middle = top + ROW_PX / 2;
    const arrival = x(recorded.arrival[row]!);
    const dispatch = inside(recorded.dispatch[row]!);
    pen.line([inside(recorded.arrival[row]!), middle, dispatch, middle], "muted");
    if (arrival >= LEFT) pen.line([arrival, middle - TICK_PX, arrival, middle + TICK_PX], "muted");
    if (recorded.dispatch[row]! > span.to) continue;
    const wide = Math.max(1, inside(recorded.completion[row]!) - dispatch);
    pen.box(dispatch, top + 3, wide, ROW_PX - 6, recorded.op[row] ? "second" : "accent");
  }
}
