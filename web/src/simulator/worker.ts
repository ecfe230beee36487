// SPDX-License-Identifier: MIT
/** Runs simulations one after the other, off the page's thread; the page ends it to cancel one. */
import type { Catalogue, Disk, Files } from "./catalogue.ts";
import { faultOf, Guest, type Fault } from "./guest.ts";
import { Impossible, jobOf, type Question } from "./jobs.ts";
import { Simulator, type Result } from "./module.ts";
import { columnsOf } from "../views/columns.ts";
import { mechanicsOf } from "../views/mechanics.ts";
import { buffersOf, recordedOf, type Recorded } from "../views/recorded.ts";

export interface Request {
  id: number;
  module: WebAssembly.Module;
  /** The module has one scheduler, a user's, and the question is about that one. */
  isOwn: boolean;
  catalogue: Catalogue;
  disk: { name: string; data: Disk };
  files: Files | null;
  question: Question;
}

/** What the page gets of a result: the rows are prepared for drawing. */
export type Shown = Omit<Result, "rows"> & { recorded: Recorded };

/** `printed` and `fault` are a user's scheduler's. */
export type Reply =
  | { id: number; result: Shown; milliseconds: number; name: string; printed: string }
  | { id: number; error: string; name?: string; printed?: string; fault?: Fault };

/** The worker is still at work. */
export interface Sign {
  alive: true;
}

let ours: Simulator | undefined;

self.onmessage = async ({ data }: MessageEvent<Request>) => {
  const { id } = data;
  const guest = data.isOwn ? new Guest(() => self.postMessage({ alive: true })) : undefined;
  let name: string | undefined;
  try {
    const simulator = guest
      ? await Simulator.load(data.module, guest.imports)
      : (ours ??= await Simulator.load(data.module));
    if (guest) guest.memory = simulator.memory;
    const named = guest ? simulator.parts.scheduler[0]!.name : data.question.scheduler;
    if (guest && data.catalogue.taken.includes(named))
      throw new Impossible(`./mine.c calls itself ${named}, which is taken; change .name`);
    name = named;
    const answered = answer(simulator, data, name);
    const reply: Reply = { id, ...answered, name, printed: guest?.printed ?? "" };
    self.postMessage(reply, { transfer: buffersOf(reply.result.recorded) });
  } catch (error) {
    const { message } = error as Error;
    const reply: Reply = { id, error: message, ...(name !== undefined && { name }) };
    if (guest) Object.assign(reply, { printed: guest.printed, fault: faultOf(error as Error) });
    self.postMessage(reply);
  }
};

function answer(simulator: Simulator, request: Request, scheduler: string) {
  const { catalogue, disk, files } = request;
  const question = { ...request.question, scheduler };
  const name = catalogue.disks.find((each) => each.name === disk.name)!;
  const part = simulator.part.bind(simulator);
  const job = jobOf(question, { catalogue, name, disk: disk.data, files, part });
  const began = performance.now();
  const { rows, ...rest } = simulator.run(job);
  const milliseconds = performance.now() - began;
  const recorded = recordedOf(columnsOf(rows), { disk: mechanicsOf(disk.data) });
  return { result: { ...rest, recorded }, milliseconds };
}
