// SPDX-License-Identifier: MIT
/** The head's position against time, and below it the number of requests that wait. */
import { extremesIn, type Extremes } from "./extremes.ts";
import { countTo, firstFrom } from "./order.ts";
import type { Pen } from "./pen.ts";
import { waitingAt, type Recorded } from "./recorded.ts";
import { LEFT, shown } from "./scale.ts";

export interface Span {
  from: number;
  to: number;
}

/**
 * Draw a line from each request served by the medium to the next.  Where several requests begin on
 * one pixel, the line covers all of their sectors.
 */
export function drawHead(
  pen: Pen,
  recorded: Recorded,
  { from, to }: Span,
  capacity: number,
  width: number,
  height: number,
): void {
  const { movedAt, moved, sector, heads } = recorded;
  const x = scaleOf({ from, to }, width);
  const y = (place: number) => height - 1 - (place / capacity) * (height - 2);
  pen.box(LEFT, 0, width - LEFT, height, "raised");
  pen.text(LEFT - 6, 12, "last sector", "muted", "end");
  pen.text(LEFT - 6, height - 3, "sector 0", "muted", "end");
  const points: number[] = [];
  const first = Math.max(0, firstFrom(movedAt, from) - 1);
  const end = Math.min(movedAt.length, countTo(movedAt, to) + 1);
  for (let i = first; i < end; ) {
    const column = Math.floor(x(movedAt[i]!));
    const until = firstFrom(movedAt, timeAt({ from, to }, width, column + 1));
    const next = Math.max(i + 1, Math.min(end, until));
    points.push(column, y(sector[moved[i]!]!));
    if (next - i > 1) {
      const [low, high] = extremesIn(heads, i, next);
      points.push(column, y(low), column, y(high), column, y(sector[moved[next - 1]!]!));
    }
    i = next;
  }
  pen.line(clipped(points, LEFT, width), "accent");
}

/** Draw how many requests wait: where it changes within a pixel, from the fewest to the most. */
export function drawQueue(
  pen: Pen,
  recorded: Recorded,
  span: Span,
  peak: number,
  width: number,
  height: number,
): void {
  const { arrival, dispatches, most, fewest } = recorded;
  const y = (count: number) => height - (count / Math.max(1, peak)) * (height - 2);
  pen.box(LEFT, 0, width - LEFT, height, "raised");
  pen.text(LEFT - 6, 12, shown(peak), "muted", "end");
  pen.text(LEFT - 6, height - 2, "0 wait", "muted", "end");
  const points: number[] = [];
  let before = waitingAt(recorded, span.from);
  let arrived = countTo(arrival, span.from);
  let dispatched = countTo(dispatches, span.from);
  points.push(LEFT, y(before));
  for (let column = LEFT; column < width; column++) {
    const until = timeAt(span, width, column + 1);
    const a = countTo(arrival, until, arrived);
    const d = countTo(dispatches, until, dispatched);
    if (a === arrived && d === dispatched) continue;
    const low = Math.min(before, within(fewest, dispatched, d)[0]);
    const high = Math.max(before, within(most, arrived, a)[1]);
    const after = a - d;
    points.push(column, y(before), column, y(low), column, y(high), column, y(after));
    [before, arrived, dispatched] = [after, a, d];
  }
  points.push(width, y(before));
  pen.line(points, "accent");
}

function within(of: Extremes, from: number, to: number): [number, number] {
  return from < to ? extremesIn(of, from, to) : [Infinity, -Infinity];
}

export function scaleOf({ from, to }: Span, width: number): (time: number) => number {
  return (time) => LEFT + ((time - from) / (to - from)) * (width - LEFT);
}

export function timeAt({ from, to }: Span, width: number, x: number): number {
  return from + ((x - LEFT) / (width - LEFT)) * (to - from);
}

/** Cut a line at two values of x. */
function clipped(points: number[], left: number, right: number): number[] {
  const inside: number[] = [];
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i]!, points[i + 1]!];
    for (const edge of [left, right]) {
      const [before, above] = [points[i - 2], points[i - 1]];
      if (before === undefined || before === x) continue;
      if (Math.min(before, x) < edge && edge < Math.max(before, x))
        inside.push(edge, above! + ((edge - before) / (x - before)) * (y - above!));
    }
    if (left <= x && x <= right) inside.push(x, y);
  }
  return inside;
}
