// SPDX-License-Identifier: MIT
// node run_caches.ts MODULE.wasm: read a job a line, and print how many reads its cache inserted and
// answered, and the first read that differs from the run's: with the job's cache, and with one segment
// fewer.
import { readFileSync } from "node:fs";

import { Simulator, type Job } from "../../web/src/simulator/module.ts";
import { filledBy } from "../../web/src/views/cache.ts";
import { columnsOf } from "../../web/src/views/columns.ts";
import { recordedOf } from "../../web/src/views/recorded.ts";

const simulator = await Simulator.load(
  await WebAssembly.compile(readFileSync(process.argv[2]!)),
);
for (const line of readFileSync(0, "utf8").trim().split("\n")) console.log(answer(line));

function answer(line: string): string {
  const job = JSON.parse(line, (_, value) =>
    typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : value,
  );
  const { numbers } = job;
  const of = (name: string) => Number(numbers[`device.drive.${name}`] ?? numbers[name]);
  const cache = {
    segments: of("cache_segments"),
    segmentSectors: of("cache_segment_sectors"),
    prefetchSectors: of("cache_prefetch_sectors"),
  };
  const columns = columnsOf(simulator.run(job as Job).rows);
  const whole = recordedOf(columns, { disk: null });
  const filled = filledBy(whole, cache);
  // Later arrivals are no rows of the run, and may be served before its last rows.
  const last = columns.arrival[columns.arrival.length - 1]!;
  const early = (row: number | null) => (row !== null && columns.start[row]! <= last ? row : null);
  return JSON.stringify({
    inserted: filled.at.length,
    hits: filled.hits.length,
    dropped: filled.dropped.filter((time) => time < Infinity).length,
    differs: early(filled.differs),
    wrong: filledBy(whole, { ...cache, segments: cache.segments - 1 }).differs,
  });
}
