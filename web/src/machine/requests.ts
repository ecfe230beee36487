// SPDX-License-Identifier: MIT
// The requests of run folders, from the server.

import { answered, asked } from "../served";
import type { Prepared } from "../views/prepared";
import type { Reply } from "../views/unpack.worker";

export interface Recorded {
  platform: string;
  disk: string;
  runs: { scheduler: string; seed: number; requests: number }[];
}

interface Compared {
  real: number;
  real_half_width: number | null;
  virtual: number;
  virtual_half_width: number | null;
  /** As a fraction of the first run's figure. */
  error: number | null;
  real_rank: number;
  virtual_rank: number;
}

/** A run compared with another one, as `compare-runs --json` does; or why it cannot be. */
export interface Other {
  name: string;
  error?: string;
  doubts?: string[];
  alone?: string[];
  seeds?: number[];
  measures?: {
    measure: string;
    schedulers: { [name: string]: Compared };
    pairs_that_differ: number;
    pairs_alike: number;
  }[];
}

export interface Comparison {
  /** Names and units, by the measures' keys. */
  measures: { [key: string]: string };
  others: Other[];
}

const pathOf = (name: string) => `runs/${name.split("/").map(encodeURIComponent).join("/")}`;

/** The path of a run's report.html. */
export const reportOf = (name: string) => `api/${pathOf(name)}/report`;

export const recorded = (name: string) => asked<Recorded>(`${pathOf(name)}/recorded`);

/** Compare runs with the first of them. */
export const compared = (names: string[]) =>
  asked<Comparison>(`comparison?${new URLSearchParams(names.map((name) => ["run", name]))}`);

/** Load one run of a folder, prepared for drawing; `signal` ends that. */
export async function load(
  name: string,
  scheduler: string,
  seed: number,
  signal: AbortSignal,
): Promise<Prepared> {
  const query = new URLSearchParams({ scheduler, seed: String(seed) });
  const answer = await answered(`${pathOf(name)}/requests?${query}`, { signal });
  return prepared(await answer.arrayBuffer(), signal);
}

function prepared(bytes: ArrayBuffer, signal: AbortSignal): Promise<Prepared> {
  const worker = new Worker(new URL("../views/unpack.worker.ts", import.meta.url), {
    type: "module",
  });
  return new Promise<Prepared>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    worker.onmessage = ({ data }: MessageEvent<Reply>) =>
      "error" in data ? reject(new Error(data.error)) : resolve(data.prepared);
    worker.onerror = () => reject(new Error("The requests need more memory than the browser has."));
    worker.postMessage(bytes, [bytes]);
  }).finally(() => worker.terminate());
}
