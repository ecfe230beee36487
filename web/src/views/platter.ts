// SPDX-License-Identifier: MIT
/**
 * The disk from above: its zones, the arm as it moves, and the tracks on which requests wait.  Where
 * on its track a sector lies is not drawn.
 */
import type { Mechanics } from "./mechanics.ts";
import { countTo, firstFrom } from "./order.ts";
import type { Colour, Pen } from "./pen.ts";
import { servedAt, type Recorded } from "./recorded.ts";
import { waitingRows } from "./strip.ts";

export const PLATTER_PX = 170;
const INNER = 0.4; // radius of the innermost track; the outermost has 1
const PIVOT = 1.25; // distance of the arm's pivot from the centre
const ARM = 1.06; // the arm's length
const CORNERS = 72; // of a circle that is drawn

/**
 * Return the radius of a sector's track.  Each track takes one rotation, so the longer a sector
 * takes, the fewer are on a track.
 */
export function radiusOf({ rate, capacity }: Mechanics): (sector: number) => number {
  const points = rate.length ? rate : ([[0, 1]] as [number, number][]);
  const [places, tracks] = [new Float64Array(points.length + 1), new Float64Array(points.length + 1)];
  points.forEach(([sector, each], i) => {
    const [next, following] = points[i + 1] ?? [capacity, each];
    places[i] = sector;
    // The time of a sector is linear between two points.
    tracks[i + 1] = tracks[i]! + ((next - sector) * (1 / each + 1 / following)) / 2;
  });
  places[points.length] = capacity;
  const all = tracks[points.length]!;
  return (sector) => 1 - ((1 - INNER) * between(places, tracks, sector)) / all;
}

/** Return where the arm is: on the way to a request's sector, or there. */
export function armAt(recorded: Recorded, disk: Mechanics, time: number): number | null {
  const { moved, movedAt, sector, sectors } = recorded;
  const i = countTo(movedAt, time) - 1;
  const row = moved[i];
  if (row === undefined) return null;
  const to = sector[row]!;
  const before = moved[i - 1];
  if (before === undefined || disk.inTracks) return to;
  const from = sector[before]! + sectors[before]!;
  const distances = Float64Array.from(disk.reach, ([distance]) => distance);
  const times = Float64Array.from(disk.reach, ([, each]) => each);
  const duration = between(distances, times, Math.abs(to - from));
  return time - movedAt[i]! < duration ? from + ((to - from) * (time - movedAt[i]!)) / duration : to;
}

export function drawPlatter(
  pen: Pen,
  recorded: Recorded,
  disk: Mechanics,
  time: number,
  height: number,
): void {
  const unit = height / 2 - 2;
  const radius = radiusOf(disk);
  const circle = (r: number, colour: Colour, width = 1) =>
    pen.line(
      Array.from({ length: 2 * (CORNERS + 1) }, (_, i) => {
        const angle = (2 * Math.PI * (i >> 1)) / CORNERS;
        return unit * (1 + r * (i % 2 ? Math.sin(angle) : Math.cos(angle))) + 2;
      }),
      colour,
      width,
    );
  const line = (x0: number, y0: number, x1: number, y1: number, colour: Colour, width: number) =>
    pen.line(
      [x0, y0, x1, y1].map((each) => unit * (1 + each) + 2),
      colour,
      width,
    );
  for (const each of new Set([1, ...stepsOf(disk).map(radius), INNER])) circle(each, "line");
  if (disk.rotation) {
    const angle = 2 * Math.PI * ((time / disk.rotation) % 1);
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    line(0.1 * x, 0.1 * y, INNER * x, INNER * y, "muted", 2);
  }
  const drawn = new Set<string>();
  for (const row of waitingRows(recorded, time)) {
    const r = Math.round(radius(recorded.sector[row]!) * unit) / unit;
    const colour = recorded.op[row] ? "second" : "accent";
    if (!drawn.has(`${r} ${colour}`)) circle(r, colour); // a circle for each pixel is enough
    drawn.add(`${r} ${colour}`);
  }
  const served = servedAt(recorded, time);
  if (served !== null) circle(radius(recorded.sector[served]!), "text", 2.5);
  const place = armAt(recorded, disk, time);
  if (place === null) return;
  const r = radius(place);
  const x = (r * r + PIVOT * PIVOT - ARM * ARM) / (2 * PIVOT);
  line(PIVOT, 0, x, -Math.sqrt(Math.max(0, r * r - x * x)), "text", 3);
}

/** Return the sectors at which the rate falls at once: where a zone begins. */
function stepsOf({ rate }: Mechanics): number[] {
  return rate.flatMap(([sector, each], i) => {
    const [next, following] = rate[i + 1] ?? [sector, each];
    return each !== following && next - sector <= 1 ? [next] : [];
  });
}

/** Return the value of a curve, which is linear between its points. */
function between(places: Float64Array, values: Float64Array, place: number): number {
  const i = Math.min(places.length - 1, Math.max(1, firstFrom(places, place)));
  const [left, right] = [places[i - 1]!, places[i]!];
  const share = right > left ? (place - left) / (right - left) : 1;
  return values[i - 1]! + Math.min(1, Math.max(0, share)) * (values[i]! - values[i - 1]!);
}
