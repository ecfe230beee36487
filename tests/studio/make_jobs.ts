// SPDX-License-Identifier: MIT
// node make_jobs.ts MODULE.wasm FOLDER: read a question a line, and print the job that the page makes
// of it; FOLDER has what understudy_devices/studio/catalogue.py writes.
import { readFileSync } from "node:fs";

import type { Catalogue, Disk, Files } from "../../web/src/simulator/catalogue.ts";
import { jobOf } from "../../web/src/simulator/jobs.ts";
import { Simulator } from "../../web/src/simulator/module.ts";

const [, , wasm, folder] = process.argv;
const simulator = await Simulator.load(await WebAssembly.compile(readFileSync(wasm!)));
const catalogue = read<Catalogue>("catalogue");
const files = read<Files>("files");
for (const line of readFileSync(0, "utf8").trim().split("\n")) console.log(answer(line));

function read<T>(name: string): T {
  return JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")) as T;
}

function answer(line: string): string {
  const { disk, ...question } = JSON.parse(line);
  const name = catalogue.disks.find((each) => each.name === disk)!;
  try {
    const job = jobOf(question, {
      catalogue,
      name,
      disk: read<Disk>(`disks/${disk}`),
      files,
      part: (kind, part) => simulator.part(kind, part),
    });
    return JSON.stringify(job, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  } catch (error) {
    return JSON.stringify({ error: (error as Error).message });
  }
}
