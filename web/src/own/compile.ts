// SPDX-License-Identifier: MIT
/**
 * From the C file of a user's scheduler to a WebAssembly module with the simulator: clang and lld,
 * which are WebAssembly modules themselves (@yowasp/clang).  web/compiler/build.py packs them.
 */
import { parsed, type Message } from "./messages.ts";

const FILE = "./mine.c";
/**
 * The warnings of native/registry.py.  A null pointer that is followed traps, and keeps its line;
 * each branch calls the page now and then (sim/wasm/own/own.c).
 */
const FLAGS = [
  "-std=gnu11",
  "-O2",
  "-g",
  "-I.",
  "-fno-finite-loops", // clang may not remove an endless loop
  "-fvisibility=hidden",
  "-Wall",
  "-Wextra",
  "-Wno-unused-parameter",
  "-Werror=implicit-function-declaration",
  "-Werror=implicit-int",
  "-Werror=incompatible-pointer-types",
  "-Werror=int-conversion",
  "-Werror=return-type",
  "-Werror=strict-prototypes",
  "-Werror=date-time",
  "-fsanitize=null",
  "-fsanitize-trap=null",
  "-fno-sanitize-merge=null",
  "-fsanitize-coverage=trace-pc,no-prune",
  "-fno-caret-diagnostics",
];
const LINKED = [
  "-mexec-model=reactor",
  "-Wl,--whole-archive,simulator.a,--no-whole-archive",
  "-Wl,--stack-first,-z,stack-size=1048576", // a stack that is used up traps
  "-Wl,--max-memory=2147483648",
];
const MAY_BE_FLOATING = /float|double|\d\.|\.\d|\de\d/;

export type Tree = { [name: string]: Tree | string | Uint8Array };
type Output = (bytes: Uint8Array | null) => void;
type Tool = (words: string[], files: Tree, options: Options) => Promise<Tree>;

interface Options {
  stdout: Output;
  stderr: Output;
  fetchProgress?: (progress: { doneLength: number }) => void;
}

export interface Toolchain {
  runClang: Tool;
  runLLVM: Tool;
  Exit: new () => Error;
}

export interface Compiled {
  /** The module; undefined if the file does not compile. */
  bytes?: Uint8Array;
  messages: Message[];
}

export async function compile(
  tools: Toolchain,
  source: string,
  headers: Record<string, string>,
  simulator: Uint8Array,
): Promise<Compiled> {
  const files = { ...treeOf(headers), "mine.c": source };
  const compiling = await run(tools, tools.runClang, ["clang", ...FLAGS, "-c", FILE, "-o", "mine.o"], files);
  const messages = parsed(compiling.text);
  if (!compiling.files) return { messages };
  const object = compiling.files["mine.o"] as Uint8Array;
  const floating = MAY_BE_FLOATING.test(source) ? await floatingLines(tools, object) : [];
  if (floating.length) return { messages: [...floating, ...messages] };
  const parts = { "mine.o": object, "simulator.a": simulator };
  const linking = await run(
    tools,
    tools.runClang,
    ["clang", "-g", "mine.o", "-o", "mine.wasm", ...LINKED],
    parts,
  );
  if (!linking.files) return { messages: [...unlinked(linking.text), ...messages] };
  return { bytes: linking.files["mine.wasm"] as Uint8Array, messages };
}

/** Return "function, ./mine.c:line" of the innermost place that is in the file, or "". */
export async function locate(
  tools: Toolchain,
  bytes: Uint8Array,
  offsets: number[],
): Promise<string> {
  const start = codeStart(bytes);
  const words = offsets.map((offset) => `0x${(offset - start).toString(16)}`);
  const { text } = await run(
    tools,
    tools.runLLVM,
    ["symbolizer", "--output-style=JSON", "-e", "mine.wasm", ...words],
    { "mine.wasm": bytes },
  );
  const places = JSON.parse(text || "[]") as {
    Symbol?: { FileName: string; FunctionName: string; Line: number }[];
  }[];
  for (const { FileName, FunctionName, Line } of places.flatMap((place) => place.Symbol ?? []))
    if (/(^|\/)mine\.c$/.test(FileName) && Line && !FunctionName.startsWith("__clang_trap"))
      return `${FunctionName}, ${FILE}:${Line}`;
  return "";
}

async function run(
  tools: Toolchain,
  tool: Tool,
  words: string[],
  files: Tree,
): Promise<{ files?: Tree; text: string }> {
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  const output = (bytes: Uint8Array | null) => {
    if (bytes) pieces.push(decoder.decode(bytes, { stream: true }));
  };
  try {
    const written = await tool(words, files, { stdout: output, stderr: output });
    return { files: written, text: pieces.join("") };
  } catch (error) {
    if (!(error instanceof tools.Exit)) throw error;
    return { text: pieces.join("") };
  }
}

/** In the compiler's files, `..` is the same folder: so "../fifo.h" is beside mine.c. */
function treeOf(headers: Record<string, string>): Tree {
  const tree: Tree = {};
  for (const [path, text] of Object.entries(headers)) {
    const names = path.split("/");
    const last = names.pop()!;
    let folder = tree;
    for (const name of names) folder = (folder[name] ??= {}) as Tree;
    folder[last] = text;
  }
  return tree;
}

/** A kernel has no floating point: the command's compiler refuses it, and clang here does not. */
async function floatingLines(tools: Toolchain, object: Uint8Array): Promise<Message[]> {
  const words = ["objdump", "-d", "-l", "--no-show-raw-insn", "mine.o"];
  const { text } = await run(tools, tools.runLLVM, words, { "mine.o": object });
  const lines = new Set<number>();
  let line = 0;
  for (const row of text.split("\n")) {
    const place = /^; .*\/mine\.c:(\d+)/.exec(row);
    if (place) line = Number(place[1]);
    else if (/^\s+[0-9a-f]+:\s+(i\S+_)?f(32|64)(?!\.select)/.test(row)) lines.add(line);
  }
  const message = "it uses floating point, which a kernel does not have";
  return [...lines].map((line) => ({ line, column: 1, severity: "error", text: message }));
}

function unlinked(text: string): Message[] {
  const words = /undefined symbol: module_scheduler/.test(text)
    ? ["registers no scheduler: its file has to end with REGISTER_SCHEDULER"]
    : text.split("\n").flatMap((line) => /^wasm-ld: error: (.*)/.exec(line)?.[1] ?? []);
  const known = words.length ? words : ["it can't be linked with the simulator"];
  return known.map((text) => ({ line: 0, column: 0, severity: "error", text }));
}

/** Return where the module's code begins: places in the debug information count from there. */
function codeStart(bytes: Uint8Array): number {
  const CODE = 10;
  let at = 8; // after the magic number and the version
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = number();
    if (section === CODE) return at;
    at += length;
  }
  return 0;
}
