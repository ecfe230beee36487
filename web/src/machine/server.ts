// SPDX-License-Identifier: MIT
// The requests to the server of `understudy studio` (understudy_devices/studio/server.py).

import { asked } from "../served";

export interface About {
  folder: string;
  version: string;
  commands: string[];
}

export interface Experiment {
  number: string;
  words: string[];
  began_s: number | null;
  ended_s: number | null;
  exit: number | null;
  state: "running" | "done" | "failed" | "cancelled" | "lost";
  run: string | null;
}

export interface Run {
  name: string;
  changed_s: number;
  has_report: boolean;
  schema?: string;
  command?: string;
  trusted?: boolean | null;
  error?: string;
}

export const about = () => asked<About>("about");

export const runs = () => asked<{ runs: Run[]; more: number }>("runs");

export const experiments = async () =>
  (await asked<{ experiments: Experiment[] }>("experiments")).experiments;

export const start = (words: string[]) => asked<Experiment>("experiments", { words });

export const cancel = (number: string) => asked<Experiment>(`experiments/${number}/cancel`, {});
