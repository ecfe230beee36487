// SPDX-License-Identifier: MIT
// node view_figures.ts: compare searches, sorts, envelopes and alignment with slow and plain ones.
import assert from "node:assert/strict";

import { aligned, NONE } from "../../web/src/views/alignment.ts";
import { columnsOf } from "../../web/src/views/columns.ts";
import { quantile, rangeOf } from "../../web/src/views/distribution.ts";
import { extremesIn, extremesOf } from "../../web/src/views/extremes.ts";
import { drawHead, drawQueue, scaleOf } from "../../web/src/views/head.ts";
import { countTo, firstFrom, orderOf } from "../../web/src/views/order.ts";
import type { Mechanics } from "../../web/src/views/mechanics.ts";
import { packed } from "../../web/src/views/packing.ts";
import type { Pen } from "../../web/src/views/pen.ts";
import { armAt, radiusOf } from "../../web/src/views/platter.ts";
import { preparedOf } from "../../web/src/views/prepared.ts";
import { headAt, recordedOf, servedAt, waitingAt } from "../../web/src/views/recorded.ts";
import { LEFT, marksOf } from "../../web/src/views/scale.ts";
import type { View } from "../../web/src/views/shared.ts";
import { waitingRows } from "../../web/src/views/strip.ts";
import { requestsIn } from "../../web/src/views/timeline.ts";

const WIDTH = 300;
const HEIGHT = 100;
const CAPACITY = 1_000_000;

let state = 1;

/** Return a whole number below a limit; the same ones in each run. */
function draw(limit: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** A device that serves one request after the other, in an order of its own. */
function invented(size: number, order: "arrival" | "sector", gap = 5_000_000) {
  const arrival = Array.from({ length: size }, () => draw(size * gap)).sort((a, b) => a - b);
  const sector = arrival.map(() => draw(CAPACITY));
  const [start, completion] = [new Array<number>(size), new Array<number>(size)];
  const left = new Set(arrival.keys());
  for (let now = 0; left.size; ) {
    let here = [...left].filter((row) => arrival[row]! <= now);
    if (!here.length) here = [Math.min(...left)];
    const row = order === "arrival" ? here[0]! : here.sort((a, b) => sector[a]! - sector[b]!)[0]!;
    left.delete(row);
    start[row] = Math.max(now, arrival[row]!);
    completion[row] = now = start[row]! + 1_000_000 + draw(8_000_000);
  }
  const times = (values: number[]) => BigInt64Array.from(values, BigInt);
  const none = new BigInt64Array(size);
  const rows = {
    arrival_ns: times(arrival),
    dispatch_ns: times(start),
    start_ns: times(start),
    completion_ns: times(completion),
    sector: times(sector),
    request_id: none,
    model_service_ns: none,
    idle_ns: none,
    sectors: new Uint32Array(size).fill(8),
    owner: Uint32Array.from(arrival, () => draw(7)),
    op: new Uint8Array(size),
    reason: new Uint8Array(size),
    hit: Uint8Array.from(arrival, () => Number(draw(4) === 0)),
  };
  return recordedOf(columnsOf(rows), { disk: null });
}

function checkOrder(): void {
  for (const size of [0, 1, 2, 50, 3000]) {
    const values = Float64Array.from({ length: size }, () => draw(size) / (1 + draw(3)));
    const expected = [...values.keys()].sort((a, b) => values[a]! - values[b]! || a - b);
    assert.deepEqual([...orderOf(values)], expected);
    const sorted = values.slice().sort();
    for (let i = 0; i < 100; i++) {
      const limit = i ? draw(2 * size + 1) / 2 : -1;
      const atMost = sorted.filter((value) => value <= limit).length;
      assert.equal(countTo(sorted, limit), atMost);
      assert.equal(countTo(sorted, limit, draw(atMost + 1)), atMost);
      assert.equal(firstFrom(sorted, limit), sorted.filter((value) => value < limit).length);
    }
  }
}

function checkExtremes(): void {
  for (let size = 1; size < 40; size++) {
    const values = Array.from({ length: size }, () => draw(1000));
    const of = extremesOf(values);
    for (let from = 0; from < size; from++) {
      for (let to = from + 1; to <= size; to++) {
        const part = values.slice(from, to);
        assert.deepEqual(extremesIn(of, from, to), [Math.min(...part), Math.max(...part)]);
      }
    }
  }
}

/** Return the points of the only line that is drawn. */
function lineOf(drawing: (pen: Pen) => void): [number, number][] {
  const lines: ArrayLike<number>[] = [];
  drawing({ line: (points) => lines.push(points), box: () => {}, text: () => {} });
  assert.equal(lines.length, 1);
  const points = Array.from(lines[0]!);
  return points.flatMap((x, i) => (i % 2 ? [] : [[x, points[i + 1]!] as [number, number]]));
}

/** Where requests begin on a pixel, the line has their least and greatest sectors, and no others. */
function checkHead(): void {
  const run = invented(3000, "sector");
  for (const [from, to] of [[0, run.end], [run.end / 3, run.end / 2], [100, 130]] as const) {
    const points = lineOf((pen) => drawHead(pen, run, { from, to }, CAPACITY, WIDTH, HEIGHT));
    const x = scaleOf({ from, to }, WIDTH);
    for (let column = LEFT; column < WIDTH; column++) {
      const sectors = [...run.moved]
        .filter((row) => Math.floor(x(run.start[row]!)) === column && run.start[row]! >= from)
        .map((row) => run.sector[row]!);
      if (!sectors.length) continue;
      const drawn = points.filter(([at]) => at === column).map(([, y]) => y);
      for (const [bound, ys] of [
        [Math.min(...sectors), Math.max(...drawn)],
        [Math.max(...sectors), Math.min(...drawn)],
      ] as const)
        assert.ok(Math.abs(HEIGHT - 1 - (bound / CAPACITY) * (HEIGHT - 2) - ys) < 0.01);
    }
  }
}

/** The line has the most and the fewest that wait within each pixel. */
function checkQueue(): void {
  const run = invented(2000, "arrival", 4_000_000);
  const peak = run.most.greatest[1]!;
  const times = [...run.arrival, ...run.dispatch].sort((a, b) => a - b);
  for (const [from, to] of [[0, run.end], [run.end / 3, run.end / 2], [200, 230]] as const) {
    const points = lineOf((pen) => drawQueue(pen, run, { from, to }, peak, WIDTH, HEIGHT));
    const x = scaleOf({ from, to }, WIDTH);
    for (let column = LEFT + 1; column < WIDTH - 1; column++) {
      const counts = times
        .filter((time) => x(time) > column + 1e-6 && x(time) < column + 1 - 1e-6)
        .map((time) => waitingAt(run, time));
      if (!counts.length) continue;
      const ys = points.filter(([at]) => at === column).map(([, y]) => y);
      const drawn = ys.map((y) => ((HEIGHT - y) / (HEIGHT - 2)) * peak);
      assert.ok(Math.max(...drawn) >= Math.max(...counts) - 0.01);
      assert.ok(Math.min(...drawn) <= Math.min(...counts) + 0.01);
      assert.ok(Math.max(...drawn) <= peak + 0.01 && Math.min(...drawn) >= -0.01);
    }
  }
}

function checkMoments(): void {
  const run = invented(400, "sector");
  const rows = [...run.arrival.keys()];
  for (let i = 0; i < 300; i++) {
    const time = draw(run.end * 1.1 * 1000) / 1000;
    const served = rows.find((row) => run.start[row]! <= time && run.completion[row]! > time);
    assert.equal(servedAt(run, time), served ?? null);
    const waits = rows.filter((row) => run.arrival[row]! <= time && run.dispatch[row]! > time);
    assert.equal(waitingAt(run, time), waits.length);
    assert.deepEqual(waitingRows(run, time).sort((a, b) => a - b), waits);
    const shown = requestsIn(run, { from: time, to: time + 50 })!;
    const there = rows.filter(
      (row) => run.arrival[row]! <= time + 50 && run.completion[row]! >= time,
    );
    assert.deepEqual(shown.rows.sort((a, b) => a - b), there);
  }
  assert.equal(headAt(run, -1), null);
  assert.equal(headAt(run, run.end), run.sector[run.moved.at(-1)!]! + 8);
  assert.equal(requestsIn(invented(1200, "arrival"), { from: 0, to: 1e9 }), null);
}

function checkAlignment(): void {
  const one = invented(500, "arrival");
  const same = aligned(one, one);
  assert.deepEqual([same.matched, same.sooner, same.differs], [500, [0, 0], null]);
  const shorter = { ...one, owner: one.owner.slice(0, 100), begun: one.begun.slice(0, 100) };
  assert.deepEqual([aligned(one, shorter).matched, aligned(one, shorter).differs], [100, 100]);
  assert.equal(aligned(shorter, one).matched, 100);
  const other = { ...one, owner: one.owner.map((owner) => owner + 10) };
  assert.ok(aligned(one, other).rows.every((row) => row === NONE));
  const far = { ...one, owner: one.owner.map((owner) => 4e9 + owner) };
  assert.deepEqual([aligned(far, far).matched, aligned(far, one).matched], [500, 0]);
  const moved = { ...one, sector: one.sector.map((sector, row) => sector + Number(row === 7)) };
  assert.deepEqual([aligned(one, moved).matched, aligned(one, moved).differs], [499, 7]);
}

/** What is packed and read again is the same, also from the middle of a run. */
function checkPacking(): void {
  const run = invented(12_000, "arrival", 4_000_000);
  const disk = { capacity: CAPACITY, reach: [[0, 1.5]], rate: [], rotation: 6, inTracks: false,
    cache: { segments: 3, segmentSectors: 20, prefetchSectors: 4 } };
  const prepared = {
    capacity: CAPACITY,
    runs: [{ name: "mine", recorded: { ...run, disk: disk as Mechanics } }],
  };
  const again = (view: View | null, from: number, requests: number) => {
    const bytes = packed(prepared, { view, from, span: 1, cursor: 0 }, requests);
    const { capacity, runs } = preparedOf(bytes.buffer);
    assert.equal(capacity, CAPACITY);
    assert.equal(runs[0]!.name, "mine");
    assert.deepEqual(runs[0]!.recorded.disk, disk);
    return runs[0]!.recorded;
  };
  assert.deepEqual(again(null, 0, 12_000), prepared.runs[0]!.recorded);
  const some = again("head", run.arrival[6_000]!, 1000);
  assert.deepEqual([some.requests, some.first, some.arrival.length], [12_000, 5501, 1000]);
  assert.deepEqual(some.completion, run.completion.slice(5501, 6501));
  const none = again("distribution", 0, 1000);
  assert.equal(none.arrival.length, 0);
  for (const share of [0.5, 0.95, 0.99, 0.999, 1])
    assert.ok(Math.abs(quantile(none.responses, share) - quantile(run.responses, share)) < 1e-6);
}

/** Runs that are packed in part are compared from their first requests on. */
function checkPackedComparison(gap: number): void {
  const run = invented(2000, "arrival", gap);
  const twice = (times: Float64Array) => times.map((time) => 2 * time);
  const [arrival, dispatch] = [twice(run.arrival), twice(run.dispatch)];
  const [start, completion] = [twice(run.start), twice(run.completion)];
  const slow = { ...run, arrival, dispatch, start, completion };
  const runs = [run, slow].map((recorded, i) => ({ name: String(i), recorded }));
  const again = (view: View | null) => {
    const shown = { view, from: run.arrival[1000]!, span: 1, cursor: 0 };
    const { buffer } = packed({ capacity: CAPACITY, runs }, shown, 1000);
    return preparedOf(buffer).runs.map(({ recorded }) => recorded);
  };
  for (const view of [null, "comparison"] as const) {
    const [mine, theirs] = again(view);
    assert.deepEqual([mine!.first, theirs!.first, mine!.arrival.length], [0, 0, 500]);
    const { matched, sooner } = aligned(mine!, theirs!);
    assert.deepEqual([matched, sooner], [500, [500, 0]]);
  }
  assert.ok(again("head").every(({ first }) => first > 0));
}

/** The rows that are all of a run, whose response times are quantiles, are no whole run. */
function checkPackedQuantiles(): void {
  const rows = invented(100, "arrival");
  const run = { ...rows, requests: 200, responses: rows.responses.map((time) => 2 * time) };
  const prepared = { capacity: CAPACITY, runs: [{ name: "mine", recorded: run }] };
  const { buffer } = packed(prepared, { view: null, from: 0, span: 1, cursor: 0 });
  const responses = run.responses.map((time) => Math.round(time * 1e6) / 1e6);
  assert.deepEqual(preparedOf(buffer).runs[0]!.recorded.responses, responses);
}

/** Half of the sectors, at twice the rate, are on a third of the tracks. */
function checkPlatter(): void {
  const rate: [number, number][] = [
    [0, 100],
    [CAPACITY / 2 - 1, 100],
    [CAPACITY / 2, 50],
  ];
  const reach: [number, number][] = [
    [0, 1],
    [CAPACITY, 3],
  ];
  const disk: Mechanics = { capacity: CAPACITY, reach, rate, rotation: 6, inTracks: false, cache: null };
  const radius = radiusOf(disk);
  for (const [share, expected] of [[0, 1], [0.5, 0.8], [0.75, 0.6], [1, 0.4]] as const)
    assert.ok(Math.abs(radius(share * CAPACITY) - expected) < 1e-5);
  assert.equal(radiusOf({ ...disk, rate: [] })(CAPACITY / 2), 0.7);
  const run = invented(100, "arrival");
  assert.equal(armAt(run, disk, -1), null);
  const [before, after] = [run.moved[41]!, run.moved[42]!];
  const [from, to] = [run.sector[before]! + run.sectors[before]!, run.sector[after]!];
  const duration = 1 + (2 * Math.abs(to - from)) / CAPACITY;
  const begun = run.movedAt[42]!;
  assert.equal(armAt(run, disk, begun), from);
  const half = armAt(run, disk, begun + duration / 2)!;
  assert.ok(Math.abs(half - (from + to) / 2) < 1e-3);
  const quick = { ...disk, reach: [[0, 0], [CAPACITY, 0.5]] as [number, number][] };
  assert.equal(armAt(run, quick, begun + 0.9), to);
  assert.equal(armAt(run, { ...disk, inTracks: true }, begun), to);
}

function checkScales(): void {
  assert.deepEqual(marksOf(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(marksOf(5, 5, 5), []);
  assert.deepEqual(marksOf(123, 456, 6), [200, 300, 400]);
  assert.deepEqual(rangeOf([Float64Array.of(0, 3), Float64Array.of(20, 70)]), {
    low: 1e-3,
    high: 100,
  });
  assert.deepEqual(rangeOf([Float64Array.of(10)]), { low: 10, high: 100 });
  assert.equal(quantile(Float64Array.of(1, 2, 3, 4), 0.5), 2);
  assert.equal(quantile(Float64Array.of(1), 0.999), 1);
}

checkOrder();
checkExtremes();
checkHead();
checkQueue();
checkMoments();
checkAlignment();
checkPacking();
checkPackedComparison(5_000_000);
checkPackedComparison(0); // all requests arrive at once
checkPackedQuantiles();
checkPlatter();
checkScales();
