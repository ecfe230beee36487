// SPDX-License-Identifier: MIT
/** Runs simulations one after the other, off the page's thread; the page ends it to cancel one. */
import type { Catalogue, Disk, Files } from "./catalogue.ts";
import { jobOf, type Question } from "./jobs.ts";
import { Simulator, type Result } from "./module.ts";
import { buffersOf, recordedOf, type Recorded } from "../views/recorded.ts";

export interface Request {
  id: number;
  module: WebAssembly.Module;
  catalogue: Catalogue;
  disk: { name: string; data: Disk };
  files: Files | null;
  question: Question;
}

/** What the page gets of a result: the rows are prepared for drawing. */
export type Shown = Omit<Result, "rows"> & { recorded: Recorded };

export type Reply =
  | { id: number; result: Shown; milliseconds: number }
  | { id: number; error: string };

let simulator: Simulator | undefined;

self.onmessage = async ({ data }: MessageEvent<Request>) => {
  try {
    simulator ??= await Simulator.load(data.module);
    const reply = answer(simulator, data);
    self.postMessage(reply, { transfer: buffersOf(reply.result.recorded) });
  } catch (error) {
    const reply: Reply = { id: data.id, error: (error as Error).message };
    self.postMessage(reply);
  }
};

function answer(simulator: Simulator, request: Request) {
  const { id, catalogue, disk, files, question } = request;
  const name = catalogue.disks.find((each) => each.name === disk.name)!;
  const part = simulator.part.bind(simulator);
  const job = jobOf(question, { catalogue, name, disk: disk.data, files, part });
  const began = performance.now();
  const { rows, ...rest } = simulator.run(job);
  const milliseconds = performance.now() - began;
  return { id, result: { ...rest, recorded: recordedOf(rows, disk.data) }, milliseconds };
}
