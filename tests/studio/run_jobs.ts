// SPDX-License-Identifier: MIT
// node run_jobs.ts MODULE.wasm: read a job a line (test_module.py), and
// print a line for each: the rows' digest, the figures and the counters, or the error.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { Simulator, type Job } from "../../web/src/simulator/module.ts";

type Text = string | string[];

const simulator = await Simulator.load(
  await WebAssembly.compile(readFileSync(process.argv[2]!)),
);
for (const line of readFileSync(0, "utf8").trim().split("\n")) console.log(answer(line));

function answer(line: string): string {
  try {
    const job = JSON.parse(line);
    for (const part of ["numbers", "arrays"]) job[part] = parsed(job[part]);
    const { rows, figures, counters } = simulator.run(job as Job);
    const digest = createHash("sha256");
    for (const column of Object.values(rows)) digest.update(new Uint8Array(column.buffer));
    return JSON.stringify({ rows: digest.digest("hex"), figures, counters: shown(counters) });
  } catch (error) {
    return JSON.stringify({ error: (error as Error).message });
  }
}

function parsed(texts: Record<string, Text>): Record<string, bigint | bigint[]> {
  const value = (text: Text) => (Array.isArray(text) ? text.map(BigInt) : BigInt(text));
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, value(text)]));
}

function shown(counters: Record<string, bigint>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counters).map(([name, value]) => [name, Number(value)]),
  );
}
