// SPDX-License-Identifier: MIT
/** Pictures of a disk: time of a request against the distance to it, and rate against place. */
import type { Mechanics } from "./mechanics.ts";
import type { Pen } from "./pen.ts";
import type { Recorded } from "./recorded.ts";
import { AXIS, LEFT, marksOf, shown } from "./scale.ts";

const DOT_PX = 2;

/** Return the time on the medium that is longest, in ms. */
export function longestService({ moved, start, completion }: Recorded): number {
  let longest = 0;
  for (const row of moved) longest = Math.max(longest, completion[row]! - start[row]!);
  return longest;
}

/**
 * Draw a dot for each request served by the medium, and the disk's model: the time until the head is
 * on the track, and half a rotation and a whole one later.  Requests at one place are one dot.
 */
export function drawService(
  pen: Pen,
  recorded: Recorded,
  disk: Mechanics,
  longest: number,
  width: number,
  height: number,
): void {
  const bottom = height - AXIS;
  const x = (distance: number) => LEFT + (distance / disk.capacity) * (width - LEFT);
  const y = (time: number) => bottom - (time / longest) * (bottom - 2);
  pen.box(LEFT, 0, width - LEFT, bottom, "raised");
  const dots = dotsOf(recorded, (distance) => x(distance) - LEFT, y, width - LEFT, bottom);
  for (const [left, top, high] of dots)
    pen.box(LEFT + left * DOT_PX, top * DOT_PX, DOT_PX, high * DOT_PX, "accent");
  if (!disk.inTracks) {
    for (const turns of disk.rotation ? [0, 0.5, 1] : [0]) {
      const later = turns * disk.rotation;
      pen.line(
        disk.reach.flatMap(([distance, time]) => [x(distance), Math.max(0, y(time + later))]),
        "second",
      );
    }
  }
  placeAxis(pen, disk.capacity, width, bottom, "sectors away");
  for (const mark of marksOf(0, longest, bottom / 40))
    pen.text(LEFT - 6, y(mark) + 4, `${shown(mark)} ms`, "muted", "end");
}

/** Draw the rate of transfers: a step is a zone. */
export function drawRate(pen: Pen, disk: Mechanics, width: number, height: number): void {
  const bottom = height - AXIS;
  const most = Math.max(...disk.rate.map(([, rate]) => rate));
  const x = (sector: number) => LEFT + (sector / disk.capacity) * (width - LEFT);
  const y = (rate: number) => bottom - (rate / most) * (bottom - 6);
  pen.box(LEFT, 0, width - LEFT, bottom, "raised");
  pen.line(
    disk.rate.flatMap(([sector, rate]) => [x(sector), y(rate)]),
    "accent",
    1.5,
  );
  placeAxis(pen, disk.capacity, width, bottom, "sector");
  for (const mark of marksOf(0, most, bottom / 40))
    pen.text(LEFT - 6, y(mark) + 4, `${shown(mark)} MB/s`, "muted", "end");
}

function placeAxis(pen: Pen, capacity: number, width: number, top: number, unit: string): void {
  const x = (sector: number) => LEFT + (sector / capacity) * (width - LEFT);
  for (const mark of marksOf(0, capacity, (width - LEFT) / 130)) {
    pen.line([x(mark), top, x(mark), top + 4], "muted");
    const align = x(mark) > width - 40 ? "end" : mark ? "middle" : "start";
    pen.text(x(mark), top + 17, mark ? shown(mark) : `0 ${unit}`, "muted", align);
  }
}

/** Return columns of adjacent dots: left, top, and how many, in dots. */
function dotsOf(
  recorded: Recorded,
  x: (distance: number) => number,
  y: (time: number) => number,
  width: number,
  height: number,
): [number, number, number][] {
  const { moved, sector, sectors, start, completion } = recorded;
  const [wide, high] = [Math.ceil(width / DOT_PX), Math.ceil(height / DOT_PX)];
  const dots = new Uint8Array(wide * high);
  let head = 0;
  for (let i = 0; i < moved.length; ) {
    const row = moved[i]!;
    let [first, end] = [sector[row]!, sector[row]! + sectors[row]!];
    for (i++; i < moved.length && start[moved[i]!] === start[row]; i++) {
      first = Math.min(first, sector[moved[i]!]!); // rows that were merged into one request
      end = Math.max(end, sector[moved[i]!]! + sectors[moved[i]!]!);
    }
    const left = Math.floor(x(Math.abs(first - head)) / DOT_PX);
    const top = Math.floor(y(completion[row]! - start[row]!) / DOT_PX);
    dots[Math.min(left, wide - 1) * high + Math.min(Math.max(top, 0), high - 1)] = 1;
    head = end;
  }
  const runs: [number, number, number][] = [];
  for (let left = 0; left < wide; left++) {
    for (let top = 0; top < high; top++) {
      const from = top;
      while (top < high && dots[left * high + top]) top++;
      if (top > from) runs.push([left, from, top - from]);
    }
  }
  return runs;
}
