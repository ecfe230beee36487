// SPDX-License-Identifier: MIT
/**
 * A user's scheduler in the simulator's module: what it may call, and how it ends early.  The words
 * are the command's (understudy_devices/native/cell.py).
 */

const PATIENCE_MS = 3000; // without progress
const SOME_EVENTS = 8n; // fewer events are no progress
const MOST_BETWEEN_MS = 100; // a longer time between two ticks is another program's
const SIGN_MS = 500;
const OUTPUT_BYTES = 2 ** 20;
const BAD_FILE = 8; // WASI's EBADF
const FRAMES = 10;
const REPEATS = 4; // of a function in the innermost frames, if it calls itself without end

/** How a user's scheduler ended, and the places in its module, innermost first. */
export interface Fault {
  before: string;
  offsets: number[];
  after: string;
}

/** The scheduler was stopped. */
export class Stopped extends Error {}

export class Guest {
  printed = "";
  private bytes = 0;
  private events = 0n;
  private idleMs = 0;
  private ticked = performance.now();
  private signed = 0;

  /** The module's imports; WASI's are those of the C library's printf. */
  readonly imports: WebAssembly.Imports = {
    page: { tick: (events: bigint) => this.tick(events) },
    wasi_snapshot_preview1: {
      fd_close: () => BAD_FILE,
      fd_seek: () => BAD_FILE,
      fd_fdstat_get: (_: number, place: number) =>
        this.memory ? describeTerminal(this.memory.buffer, place) : BAD_FILE,
      fd_write: (_: number, list: number, count: number, written: number) =>
        this.memory ? this.write(this.memory.buffer, list, count, written) : BAD_FILE,
    },
  };

  /** The module's memory, once it has one. */
  memory: WebAssembly.Memory | undefined;

  private readonly sign: () => void;

  /** `sign` is called again and again while the scheduler runs. */
  constructor(sign: () => void) {
    this.sign = sign;
  }

  private tick(events: bigint): void {
    const now = performance.now();
    this.idleMs += Math.min(now - this.ticked, MOST_BETWEEN_MS);
    this.ticked = now;
    if (events >= this.events + SOME_EVENTS) {
      this.events = events;
      this.idleMs = 0;
    }
    if (this.idleMs > PATIENCE_MS)
      throw new Stopped(
        `probably an endless loop: no progress in ${PATIENCE_MS / 1000} s of processor time`,
      );
    if (now - this.signed < SIGN_MS) return;
    this.signed = now;
    this.sign();
  }

  private write(buffer: ArrayBuffer, list: number, count: number, written: number): number {
    const view = new DataView(buffer);
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const place = view.getUint32(list + 8 * i, true);
      const length = view.getUint32(list + 8 * i + 4, true);
      this.printed += new TextDecoder().decode(new Uint8Array(buffer, place, length));
      bytes += length;
    }
    view.setUint32(written, bytes, true);
    this.bytes += bytes;
    if (this.bytes > OUTPUT_BYTES)
      throw new Stopped(`printed more than 1,048,576 bytes, and was stopped`);
    return 0;
  }
}

/** Write WASI's fdstat_t of a terminal, to which the C library prints each line at once. */
function describeTerminal(buffer: ArrayBuffer, place: number): number {
  const CHARACTER_DEVICE = 2;
  const BYTES = 24;
  new Uint8Array(buffer, place, BYTES).fill(0).set([CHARACTER_DEVICE]);
  return 0;
}

const ENDINGS: [RegExp, string][] = [
  [/divide by zero|divide result unrepresentable/, "division by zero, or an overflow of one"],
  [/./, "segmentation fault"], // also `unreachable`: clang's check of a null pointer
];

/** Return how the scheduler ended if the error is from its code, or undefined. */
export function faultOf(error: Error): Fault | undefined {
  const { message } = error;
  const isTrap = error instanceof WebAssembly.RuntimeError;
  const isDeep = error instanceof RangeError && /call stack/.test(message);
  if (!isTrap && !isDeep && !(error instanceof Stopped)) return undefined;
  const frames = [...(error.stack ?? "").matchAll(/at (\S+) \(wasm:\S+:0x([0-9a-f]+)\)/g)];
  const innermost = frames.slice(0, FRAMES);
  const offsets = innermost.map((frame) => parseInt(frame[2]!, 16));
  if (error instanceof Stopped) return { before: error.message, offsets, after: "" };
  const names = innermost.map((frame) => frame[1]!);
  const isAborted = names.some((name) => /\babort$/.test(name));
  const before = isAborted ? "aborted" : ENDINGS.find(([words]) => words.test(message))![1];
  const repeats = names.filter((name) => name === names.at(-1)).length;
  const after =
    isDeep || (repeats >= REPEATS && /out of bounds/.test(message))
      ? "; its stack is used up, probably by an endless recursion"
      : "";
  return { before, offsets, after };
}
