// SPDX-License-Identifier: MIT
// The requests for journals of card runs (understudy_devices/studio/journal_requests.py).

import { asked } from "../served";

export interface Run {
  name: string;
  journals: string[];
  pictures: string[];
}

export interface Field {
  name: string;
  bits: string;
  access: string;
  values: { name: string; value: number | string }[];
}

export interface Register {
  name: string;
  bar: number;
  offset: number;
  width: number;
  access: string | null;
  reset: number | string | null;
  fields: (Field & { reset: number | string })[];
}

export interface Card {
  name: string;
  title: string;
  registers: Register[];
}

/** ns, cpu, context, pid, what, text, parts (register, lanes, value), lost (it did not reach the
    card), slot (and 32 more for each function of the card before this one). */
export type Access = [
  number,
  number,
  string,
  number,
  string,
  string,
  [number, string, string][],
  boolean,
  number,
];

export interface Finding {
  rule: string;
  access: number;
  text: string;
}

export interface Part {
  accesses: Access[];
  written: number;
  findings: Finding[] | null; // null: the VM has not ended
  notes: Finding[] | null;
  missed: number;
}

export interface Experiment {
  number: string;
  run: string;
}

export const pathOf = (run: string) => run.split("/").map(encodeURIComponent).join("/");

export const list = async () => (await asked<{ runs: Run[] }>("journals")).runs;

export const card = (run: string, stem: string) =>
  asked<Card>(`journals/${pathOf(run)}/${encodeURIComponent(stem)}/card`);

export const accesses = (run: string, stem: string, from: number) =>
  asked<Part>(`journals/${pathOf(run)}/${encodeURIComponent(stem)}/accesses?from=${from}`);

export const picture = (run: string, name: string) =>
  `api/journals/${pathOf(run)}/pictures/${encodeURIComponent(name)}`;

export const start = (words: string[]) => asked<Experiment>("experiments", { words });

export const cancel = (number: string) => asked<Experiment>(`experiments/${number}/cancel`, {});
