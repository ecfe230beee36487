// SPDX-License-Identifier: MIT
/** The simulator for the page: loads what questions need, and asks as many workers as it has. */
import type { Catalogue, Disk, Files } from "./catalogue.ts";
import type { Question } from "./jobs.ts";
import { Runner } from "./runner.ts";
import type { Reply, Request, Shown } from "./worker.ts";

/** A scheduler that has not answered for so long is ended. */
const PATIENCE_MS = 60_000;
const LATE = `no answer in ${PATIENCE_MS / 1000} s: it was stopped`;
const MOST_WORKERS = 4; // each keeps the memory of its largest simulation

export interface Answer {
  question: Question;
  result?: Shown;
  error?: string;
  milliseconds: number;
}

export class Simulations {
  private readonly idle = Array.from(
    { length: Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 1) },
    () => new Runner(PATIENCE_MS, LATE),
  );
  private readonly waiting: ((runner: Runner) => void)[] = [];
  private next = 0;
  private readonly disks = new Map<string, Promise<Disk>>();
  private files: Promise<Files> | undefined;

  private constructor(
    private readonly module: WebAssembly.Module,
    readonly catalogue: Catalogue,
  ) {}

  static async load(): Promise<Simulations> {
    const [module, catalogue] = await Promise.all([
      WebAssembly.compileStreaming(fetched("data/simulator.wasm")),
      json<Catalogue>("data/catalogue.json"),
    ]);
    return new Simulations(module, catalogue);
  }

  /** Simulate, when a worker is free; `signal` ends the worker. */
  async run(disk: string, question: Question, signal: AbortSignal): Promise<Answer> {
    const runner = this.idle.pop() ?? (await new Promise<Runner>((free) => this.waiting.push(free)));
    const began = performance.now();
    try {
      const reply = await this.reply(disk, question, signal, { runner });
      const milliseconds = "milliseconds" in reply ? reply.milliseconds : performance.now() - began;
      return { question, ...reply, milliseconds };
    } finally {
      const next = this.waiting.shift();
      if (next) next(runner);
      else this.idle.push(runner);
    }
  }

  /** Ask a worker about a question; `module` has a user's scheduler. */
  async reply(
    disk: string,
    question: Question,
    signal: AbortSignal,
    { runner, module }: { runner: Runner; module?: WebAssembly.Module },
  ): Promise<Reply> {
    const request: Request = {
      id: this.next++,
      module: module ?? this.module,
      isOwn: module !== undefined,
      catalogue: this.catalogue,
      disk: { name: disk, data: await this.disk(disk) },
      files: question.workload.startsWith("surge") ? await this.surgeFiles() : null,
      question,
    };
    signal.throwIfAborted(); // a later question may already use the worker
    return await runner.ask(request, signal);
  }

  private disk(name: string): Promise<Disk> {
    const known = this.disks.get(name) ?? json<Disk>(`data/disks/${name}.json`);
    this.disks.set(name, known);
    return known;
  }

  private surgeFiles(): Promise<Files> {
    this.files ??= json<Files>("data/files.json");
    return this.files;
  }
}

export async function fetched(path: string): Promise<Response> {
  const response = await fetch(new URL(path, document.baseURI));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

export async function json<T>(path: string): Promise<T> {
  return (await (await fetched(path)).json()) as T;
}
