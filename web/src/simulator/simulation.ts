// SPDX-License-Identifier: MIT
/** The simulator for the page: loads what a question needs, and asks a worker. */
import type { Catalogue, Disk, Files } from "./catalogue.ts";
import type { Question } from "./jobs.ts";
import type { Reply, Request, Shown } from "./worker.ts";

/** A scheduler that has not answered for so long is ended. */
const PATIENCE_MS = 60_000;

export interface Answer {
  question: Question;
  result?: Shown;
  error?: string;
  milliseconds: number;
}

export class Simulations {
  private worker = start();
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

  /** Simulate one question after the other; `signal` ends the worker. */
  async run(disk: string, question: Question, signal: AbortSignal): Promise<Answer> {
    const began = performance.now();
    const request: Request = {
      id: this.next++,
      module: this.module,
      catalogue: this.catalogue,
      disk: { name: disk, data: await this.disk(disk) },
      files: question.workload.startsWith("surge") ? await this.surgeFiles() : null,
      question,
    };
    signal.throwIfAborted(); // a later question may already use the worker
    const reply = await this.ask(request, signal);
    const milliseconds = "milliseconds" in reply ? reply.milliseconds : performance.now() - began;
    return { question, ...reply, milliseconds };
  }

  private ask(request: Request, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { worker } = this;
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        worker.onmessage = null;
        settle();
      };
      const restart = () => {
        worker.terminate();
        this.worker = start();
      };
      const abort = () => {
        restart();
        end(() => reject(new DOMException("cancelled", "AbortError")));
      };
      const timer = setTimeout(() => {
        restart();
        const error = `no answer in ${PATIENCE_MS / 1000} s: it was stopped`;
        end(() => resolve({ id: request.id, error }));
      }, PATIENCE_MS);
      signal.addEventListener("abort", abort);
      worker.onmessage = ({ data }: MessageEvent<Reply>) => end(() => resolve(data));
      worker.postMessage(request);
    });
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

function start(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

async function fetched(path: string): Promise<Response> {
  const response = await fetch(new URL(path, document.baseURI));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

async function json<T>(path: string): Promise<T> {
  return (await (await fetched(path)).json()) as T;
}
