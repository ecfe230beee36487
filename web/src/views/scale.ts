// SPDX-License-Identifier: MIT
/** Axes: where the marks are, and how numbers are written on them. */
import type { Pen } from "./pen.ts";

export const LEFT = 72; // px for the marks of the y-axis: plots of one time are one below another
export const AXIS = 20; // px for the marks of the time axis

/** Return round numbers from one value to another, about as many as asked for. */
export function marksOf(from: number, to: number, about: number): number[] {
  const raw = (to - from) / about;
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** Return a number of a mark, which has few digits. */
export function shown(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

export function whole(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** Draw the axis of time in ms below a plot. */
export function timeAxis(pen: Pen, from: number, to: number, width: number, top: number): void {
  const x = (time: number) => LEFT + ((time - from) / (to - from)) * (width - LEFT);
  const marks = marksOf(from, to, (width - LEFT) / 110);
  for (const mark of marks) {
    pen.line([x(mark), top, x(mark), top + 4], "muted");
    const align = x(mark) > width - 30 ? "end" : "middle";
    pen.text(x(mark), top + 17, `${shown(mark)} ms`, "muted", align);
  }
}
