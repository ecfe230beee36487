// SPDX-License-Identifier: MIT
/** The compiler for the page: a worker that is started when it is first needed. */
import type { Compiled } from "./compile.ts";
import type { Ask, Progress, Told } from "./compiler.worker.ts";

/** A compiler that has given no sign for so long is ended; while it is loaded, each part is a sign. */
const PATIENCE_MS = 60_000;

export class Compiler {
  private worker: Worker | undefined;
  private turn: Promise<unknown> = Promise.resolve();

  /** `onload` gets the share of the compiler that has been loaded. */
  constructor(private readonly onload: (share: number) => void) {}

  async compile(source: string): Promise<Compiled> {
    const told = await this.ask({ kind: "compile", folder: document.baseURI, source });
    return (told as { compiled: Compiled }).compiled;
  }

  /** Return "function, ./mine.c:line" of the innermost place in the user's file, or "". */
  async locate(bytes: Uint8Array, offsets: number[]): Promise<string> {
    const told = await this.ask({ kind: "locate", folder: document.baseURI, bytes, offsets });
    return (told as { place: string }).place;
  }

  private ask(ask: Ask): Promise<Told> {
    const next = this.turn.then(() => this.send(ask));
    this.turn = next.catch(() => undefined);
    return next;
  }

  private send(ask: Ask): Promise<Told> {
    const worker = (this.worker ??= new Worker(new URL("./compiler.worker.ts", import.meta.url), {
      type: "module",
    }));
    return new Promise((resolve, reject) => {
      const fail = (words: string) => {
        worker.terminate();
        this.worker = undefined;
        reject(new Error(words));
      };
      const giveUp = () =>
        fail(`the compiler gave no answer in ${PATIENCE_MS / 1000} s: it was stopped`);
      let timer = setTimeout(giveUp, PATIENCE_MS);
      worker.onerror = () => {
        clearTimeout(timer);
        fail(
        "the compiler could not be loaded: load the page again, or take a checkout's page " +
          "(make studio), since an installed Understudy has none",
      );
      };
      worker.onmessage = ({ data }: MessageEvent<Told | Progress>) => {
        clearTimeout(timer);
        if ("share" in data) {
          timer = setTimeout(giveUp, PATIENCE_MS);
          return this.onload(data.share);
        }
        if ("error" in data) fail(data.error);
        else resolve(data);
      };
      worker.postMessage(ask);
    });
  }
}
