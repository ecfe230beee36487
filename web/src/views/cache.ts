// SPDX-License-Identifier: MIT
/**
 * The papers' on-board cache (core/drive/disk_cache.h), as a run filled it: each read from the medium
 * overwrites the oldest segment with its sectors and those read ahead, and a write drops each segment
 * that it overlaps.  Whether it fits is checked with the hits that the run recorded.
 */
import type { Cache } from "./mechanics.ts";
import { countTo } from "./order.ts";
import type { Pen } from "./pen.ts";
import { servedAt, type Recorded } from "./recorded.ts";

export const CACHE_PX = 92;
const TEXT_PX = [13, 29] as const; // of the base lines
const TOP = 36; // below the texts
const NEXT_PX = 5; // of the mark at the segment that is next
const GAP_FROM_PX = 4; // width of a segment that has room for a gap

/** A run's insertions in order; the one with number i is in the segment i modulo their number. */
export interface Filled {
  at: Float64Array; // ms
  start: Float64Array; // sector
  end: Float64Array;
  /** When a write dropped it, in ms, or Infinity. */
  dropped: Float64Array;
  /** Times of hits. */
  hits: Float64Array;
  /** The first read that this cache would have answered otherwise, or null; rows may be missing. */
  differs: number | null;
}

/** Fill a cache with a run's reads and writes, in the order in which the device began them. */
export function filledBy(recorded: Recorded, cache: Cache): Filled {
  const { begun, begunAt, sector, sectors, op, hit } = recorded;
  const { segments, segmentSectors, prefetchSectors } = cache;
  const most = begun.length;
  const column = () => new Float64Array(most);
  const [at, start, end, dropped, hits] = [column(), column(), column(), column(), column()];
  dropped.fill(Infinity);
  let [count, hitCount, differs]: [number, number, number | null] = [0, 0, null];
  for (let i = 0; i < most; ) {
    const [each, now] = [begun[i]!, begunAt[i]!];
    const isOfRequest = (other: number) => op[other] === op[each] && hit[other] === hit[each];
    let [first, after] = [sector[each]!, 0];
    for (; i < most && begunAt[i] === now && isOfRequest(begun[i]!); i++) {
      first = Math.min(first, sector[begun[i]!]!); // rows that were merged into one request
      after = Math.max(after, sector[begun[i]!]! + sectors[begun[i]!]!);
    }
    const oldest = Math.max(0, count - segments);
    if (op[each] === 0) {
      let isHeld = false;
      for (let k = oldest; k < count && !isHeld; k++)
        isHeld = start[k]! <= first && after <= end[k]! && dropped[k] === Infinity;
      // What the cache had before the first row is unknown until all segments were overwritten.
      const isKnown = isHeld || count >= segments || recorded.first === 0;
      if (isHeld !== Boolean(hit[each]) && isKnown) differs ??= each;
      if (hit[each]) {
        hits[hitCount++] = now;
      } else {
        at[count] = now;
        end[count] = after + prefetchSectors;
        start[count] = Math.max(first, end[count]! - segmentSectors);
        count++;
      }
    } else if (op[each] === 1) {
      for (let k = oldest; k < count; k++)
        if (start[k]! < after && first < end[k]!) dropped[k] = Math.min(dropped[k]!, now);
    }
  }
  const inserted = (values: Float64Array) => values.subarray(0, count);
  return {
    at: inserted(at),
    start: inserted(start),
    end: inserted(end),
    dropped: inserted(dropped),
    hits: hits.subarray(0, hitCount),
    differs,
  };
}

/** Draw a bar for each segment, as high as it is full. */
export function drawCache(
  pen: Pen,
  recorded: Recorded,
  cache: Cache,
  filled: Filled,
  time: number,
  width: number,
): void {
  const { segments, segmentSectors } = cache;
  const { differs } = filled;
  const isPart = recorded.arrival.length < recorded.requests;
  if (differs !== null && recorded.start[differs]! <= time) {
    const when = recorded.start[differs]!.toFixed(2);
    const was = recorded.hit[differs] ? "was a hit" : "was not a hit";
    const why = isPart ? "requests that are not shown were before it" : `it ${was}, unlike here`;
    pen.text(0, TEXT_PX[0], `Not known from the read at ${when} ms on: ${why}.`, "text");
    return;
  }
  const count = countTo(filled.at, time);
  const hits = countTo(filled.hits, time);
  const wide = width / segments;
  const gap = wide >= GAP_FROM_PX ? 1 : 0;
  const bottom = CACHE_PX - NEXT_PX - 2;
  const y = (sectors: number) => bottom - (sectors / segmentSectors) * (bottom - TOP);
  const served = servedAt(recorded, time);
  const read = served !== null && recorded.hit[served] ? served : null;
  let held = 0;
  pen.box(0, TOP, width, bottom - TOP, "raised");
  for (let i = Math.max(0, count - segments); i < count; i++) {
    const x = (i % segments) * wide;
    if (filled.dropped[i]! <= time) {
      pen.box(x, bottom - 2, wide - gap, 2, "second");
      continue;
    }
    held++;
    const [start, end] = [filled.start[i]!, filled.end[i]!];
    const asked = Math.max(start, end - cache.prefetchSectors);
    const isRead =
      read !== null &&
      start <= recorded.sector[read]! &&
      recorded.sector[read]! + recorded.sectors[read]! <= end;
    pen.box(x, y(asked - start), wide - gap, bottom - y(asked - start), isRead ? "text" : "accent");
    pen.box(x, y(end - start), wide - gap, y(asked - start) - y(end - start), isRead ? "text" : "muted");
  }
  const next = ((count % segments) + 0.5) * wide;
  const mark = [next, bottom + 1, next - NEXT_PX, CACHE_PX - 1, next + NEXT_PX, CACHE_PX - 1];
  pen.line([...mark, next, bottom + 1], "text");
  const least = isPart ? "at least " : "";
  pen.text(0, TEXT_PX[0], `${least}${held} of ${segments} segments, of ${segmentSectors} sectors, are in use`, "text");
  const share = count + hits ? ` (${((100 * hits) / (count + hits)).toFixed(1)} %)` : "";
  pen.text(0, TEXT_PX[1], `${hits} of ${count + hits} reads${isPart ? " that are shown" : ""} were hits${share}`, "text");
}
