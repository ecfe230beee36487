// SPDX-License-Identifier: MIT
/** Compiles users' files off the page's thread; the page ends it if it takes too long. */
import { compile, locate, type Compiled, type Toolchain } from "./compile.ts";

export type Ask =
  | { kind: "compile"; folder: string; source: string }
  | { kind: "locate"; folder: string; bytes: Uint8Array; offsets: number[] };

export type Told = { compiled: Compiled } | { place: string } | { error: string };

/** The share of the compiler that has been loaded. */
export interface Progress {
  share: number;
}

const FULL_BYTES = 80e6; // of the compiler, decompressed

interface Loaded {
  tools: Toolchain;
  headers: Record<string, string>;
  simulator: Uint8Array;
}

let loaded: Promise<Loaded> | undefined;

self.onmessage = async ({ data }: MessageEvent<Ask>) => {
  let told: Told;
  try {
    loaded ??= load(data.folder);
    const { tools, headers, simulator } = await loaded;
    if (data.kind === "locate") told = { place: await locate(tools, data.bytes, data.offsets) };
    else told = { compiled: await compile(tools, data.source, headers, simulator) };
  } catch (error) {
    loaded = undefined; // the next try loads what is missing
    told = { error: (error as Error).message };
  }
  self.postMessage(told);
};

async function load(folder: string): Promise<Loaded> {
  const ordinary = self.fetch.bind(self);
  const [headers, simulator] = await Promise.all([
    whole(ordinary, new URL("data/headers.json", folder)),
    whole(ordinary, new URL("data/simulator.a", folder)),
  ]);
  self.fetch = (input) => unpacked(ordinary, new URL(input as URL | string));
  const script = new URL("compiler/bundle.js", folder).href;
  const tools = (await import(/* @vite-ignore */ script)) as Toolchain;
  const fetchProgress = ({ doneLength }: { doneLength: number }) =>
    self.postMessage({ share: Math.min(1, doneLength / FULL_BYTES) } satisfies Progress);
  const output = { stdout: ignore, stderr: ignore, fetchProgress };
  await tools.runLLVM(["clang", "--version"], {}, output); // this loads everything
  return { tools, headers: JSON.parse(new TextDecoder().decode(headers)), simulator };
}

function ignore(): void {}

async function whole(get: typeof fetch, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const response = await get(url);
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Fetch NAME.gz in place of NAME; some servers decompress it themselves. */
async function unpacked(get: typeof fetch, url: URL): Promise<Response> {
  const response = await get(new URL(`${url.href}.gz`));
  if (!response.ok || !response.body)
    throw new Error(`${url.pathname}.gz: ${response.status} ${response.statusText}`);
  const reader = response.body.getReader();
  const first = (await reader.read()).value ?? new Uint8Array();
  const rest = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (stream) => stream.enqueue(first),
    async pull(stream) {
      const { value, done } = await reader.read();
      if (done) stream.close();
      else stream.enqueue(value);
    },
  });
  const isPacked = first[0] === 0x1f && first[1] === 0x8b;
  const type = url.pathname.endsWith(".wasm") ? "application/wasm" : "application/x-tar";
  return new Response(isPacked ? rest.pipeThrough(new DecompressionStream("gzip")) : rest, {
    headers: { "content-type": type },
  });
}
