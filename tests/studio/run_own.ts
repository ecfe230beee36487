// SPDX-License-Identifier: MIT
// node run_own.ts COMPILER FOLDER: read a user's scheduler and a job a line, compile the scheduler as
// the page does, and print what run_jobs.ts prints; or the compiler's messages.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { compile, locate, type Toolchain } from "../../web/src/own/compile.ts";
import { faultOf, Guest } from "../../web/src/simulator/guest.ts";
import { Simulator, type Job } from "../../web/src/simulator/module.ts";

const [, , compiler, folder] = process.argv;
console.log = () => {}; // the compiler reports how much of it is loaded
const tools = (await import(compiler!)) as Toolchain;
const headers = JSON.parse(readFileSync(`${folder}/headers.json`, "utf8"));
const library = new Uint8Array(readFileSync(`${folder}/simulator.a`));
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { source, job } = JSON.parse(line);
  const { bytes, messages } = await compile(tools, source, headers, library);
  print(bytes ? await answer(bytes, job) : { messages });
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function answer(bytes: Uint8Array, job: Record<string, any>) {
  const module = await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
  const guest = new Guest(() => {});
  try {
    const simulator = await Simulator.load(module, guest.imports);
    guest.memory = simulator.memory;
    for (const part of ["numbers", "arrays"]) job[part] = parsed(job[part]);
    const { rows, counters } = simulator.run(job as Job);
    const digest = createHash("sha256");
    for (const column of Object.values(rows)) digest.update(new Uint8Array(column.buffer));
    return { rows: digest.digest("hex"), counters: shown(counters), printed: guest.printed };
  } catch (error) {
    const fault = faultOf(error as Error);
    if (!fault) return { error: (error as Error).message };
    const place = await locate(tools, bytes, fault.offsets);
    return { error: `${fault.before} in ${place}${fault.after}` };
  }
}

function parsed(texts: Record<string, string | string[]>): Record<string, bigint | bigint[]> {
  const value = (text: string | string[]) =>
    Array.isArray(text) ? text.map(BigInt) : BigInt(text);
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, value(text)]));
}

function shown(counters: Record<string, bigint>): Record<string, number> {
  return Object.fromEntries(Object.entries(counters).map(([name, count]) => [name, Number(count)]));
}
