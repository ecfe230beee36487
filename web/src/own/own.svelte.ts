// SPDX-License-Identifier: MIT
/** The user's scheduler: its text, the module that was compiled from it, and what is wrong. */
import type { Question } from "../simulator/jobs.ts";
import type { Fault } from "../simulator/guest.ts";
import { Runner } from "../simulator/runner.ts";
import type { Answer, Simulations } from "../simulator/simulation.ts";
import { Compiler } from "./compiler.ts";
import type { Message } from "./messages.ts";

const PATIENCE_S = 10; // without a sign of the worker: it loops outside the user's file
const MESSAGES = 50; // are enough for a person

interface Module {
  source: string;
  bytes: Uint8Array;
  module: WebAssembly.Module;
}

export class Own {
  source = $state("");
  isOpen = $state(false);
  isFromLink = $state(false); // somebody else may have written the text
  isCompiling = $state(false);
  loaded = $state(0); // share of the compiler
  module = $state.raw<Module>();
  messages = $state.raw<Message[]>([]);
  printed = $state("");
  private readonly compiler = new Compiler((share) => (this.loaded = share));
  private readonly runner = new Runner(
    1000 * PATIENCE_S,
    `probably an endless loop: no progress in ${PATIENCE_S} s`,
  );

  /** Has the text changed since it was compiled? */
  get isChanged(): boolean {
    return this.module !== undefined && this.module.source !== this.source;
  }

  /** Compile the text; `module` has the result if the text compiles. */
  async compile(): Promise<void> {
    const { source } = this;
    this.isCompiling = true;
    this.printed = "";
    try {
      const { bytes, messages } = await this.compiler.compile(source);
      this.messages = messages.slice(0, MESSAGES);
      this.module = bytes && {
        source,
        bytes,
        module: await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>),
      };
    } catch (error) {
      this.module = undefined;
      this.messages = [outside((error as Error).message)];
    }
    this.isCompiling = false;
  }

  /** Simulate with the user's scheduler. */
  async run(
    simulations: Simulations,
    disk: string,
    question: Question,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { module, runner } = this;
    const began = performance.now();
    const own = { runner, module: module!.module };
    const reply = await simulations.reply(disk, question, signal, own);
    const asked = { ...question, scheduler: reply.name ?? "mine" };
    this.printed = reply.printed ?? "";
    this.messages = this.messages.filter(({ isOfRun }) => !isOfRun);
    if (!("error" in reply)) return { ...reply, question: asked };
    const error = reply.fault ? await this.explained(reply.fault) : reply.error;
    const line = Number(/\.\/mine\.c:(\d+)/.exec(error)?.[1] ?? 0);
    this.messages = [...this.messages, { ...outside(error), line, isOfRun: true }];
    return { question: asked, error, milliseconds: performance.now() - began };
  }

  private async explained({ before, offsets, after }: Fault): Promise<string> {
    const place = await this.compiler.locate(this.module!.bytes, offsets).catch(() => "");
    const last = this.printed.split("\n").findLast((line) => line.trim());
    const printed = last ? `; it last printed "${last.trim().slice(0, 80)}"` : "";
    return `${before}${place && ` in ${place}`}${after}${printed}`;
  }
}

function outside(text: string): Message {
  return { line: 0, column: 1, severity: "error", text };
}
