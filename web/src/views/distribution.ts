// SPDX-License-Identifier: MIT
/**
 * The distribution of response times, with a logarithmic axis: bars count the requests of equal
 * steps of that axis, and the line is the share of requests that took at most so long (ECDF).
 */
import { countTo } from "./order.ts";
import type { Pen } from "./pen.ts";
import { AXIS, LEFT, shown } from "./scale.ts";

const BAR_PX = 6;
const QUANTILES = [0.5, 0.95, 0.99, 0.999];
const LEAST_MS = 1e-3; // a response of 0 has no logarithm

export interface Range {
  low: number;
  high: number;
}

/** Return the range of all response times, from one power of ten to another. */
export function rangeOf(all: Float64Array[]): Range {
  const firsts = all.map((responses) => responses[0]!);
  const lasts = all.map((responses) => responses[responses.length - 1]!);
  const low = 10 ** Math.floor(Math.log10(Math.max(LEAST_MS, Math.min(...firsts))));
  return { low, high: Math.max(10 * low, 10 ** Math.ceil(Math.log10(Math.max(...lasts)))) };
}

/** Return the response time that a share of the requests does not exceed: the nearest rank. */
export function quantile(responses: Float64Array, share: number): number {
  return responses[Math.max(0, Math.ceil(share * responses.length) - 1)]!;
}

export function drawDistribution(
  pen: Pen,
  responses: Float64Array,
  range: Range,
  width: number,
  height: number,
): void {
  const bottom = height - AXIS;
  const decades = Math.log10(range.high / range.low);
  const x = (time: number) =>
    LEFT + (Math.log10(Math.max(time, range.low) / range.low) / decades) * (width - LEFT);
  const timeAt = (at: number) => range.low * 10 ** (((at - LEFT) / (width - LEFT)) * decades);
  const upTo = (at: number) => (at >= width ? responses.length : countTo(responses, timeAt(at)));
  pen.box(LEFT, 0, width - LEFT, bottom, "raised");
  const bars: number[] = [];
  for (let left = LEFT; left < width; left += BAR_PX)
    bars.push(upTo(left + BAR_PX) - (left === LEFT ? 0 : upTo(left)));
  const most = Math.max(...bars);
  bars.forEach((count, i) => {
    const high = (count / most) * (bottom - 2);
    if (count) pen.box(LEFT + BAR_PX * i, bottom - high, BAR_PX - 1, high, "accent");
  });
  const line: number[] = [];
  for (let at = LEFT; at <= width; at++)
    line.push(at, bottom - 1 - (upTo(at) / responses.length) * (bottom - 2));
  pen.line(line, "second", 1.5);
  pen.text(LEFT - 6, 12, "100 %", "muted", "end");
  pen.text(LEFT - 6, bottom - 2, "0 %", "muted", "end");
  for (let mark = range.low; mark <= range.high * 1.001; mark *= 10) {
    pen.line([x(mark), bottom, x(mark), bottom + 4], "muted");
    const align = mark >= range.high * 0.999 ? "end" : "middle";
    const unit = mark === range.low ? " ms" : ""; // there is no room for more
    pen.text(x(mark), bottom + 17, shown(mark) + unit, "muted", align);
  }
  for (const share of QUANTILES) {
    const at = x(quantile(responses, share));
    pen.line([at, 0, at, bottom], "muted");
  }
}

/** Return the marked quantiles in words. */
export function quantilesInWords(responses: Float64Array): string {
  const words = QUANTILES.map((share) => {
    const percent = Number((100 * share).toFixed(1));
    return `p${percent} ${quantile(responses, share).toFixed(2)} ms`;
  });
  return words.join(", ");
}
