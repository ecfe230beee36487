// SPDX-License-Identifier: MIT
/** What understudy_devices/studio/catalogue.py writes: the command line's options, and the disks. */

export interface Option {
  field: string;
  option: string;
  help: string;
  kind: "int" | "float" | "text" | "choice";
  /** The names of a choice; its value is the place of one of them. */
  choices?: string[];
  low: number | null;
  high: string | null;
  unit: string;
  default: number | null;
}

export interface Workload {
  name: string;
  summary: string;
  options: Option[];
}

export interface DiskName {
  name: string;
  servers: number;
  is_array: boolean;
  most_at_once: number | null;
  queue_age_limit_ns: string | null;
}

export interface Catalogue {
  capacity_sectors: number;
  defaults: { disk: string; workload: string };
  policies: { prefetcher: string; replacer: string };
  schedulers: string[];
  /** Names that a user's scheduler can't have. */
  taken: string[];
  /** The file that a user's scheduler begins as. */
  template: string;
  workloads: Workload[];
  run: Option[];
  device: Option[];
  simulator: Option[];
  disks: DiskName[];
}

/** A disk as numbers and arrays of the module, and the tunables that describe it to schedulers. */
export interface Disk {
  numbers: Record<string, string>;
  arrays: Record<string, string[]>;
  following: Record<string, Record<string, string>>;
}

/** The layout of SURGE's files; see `_files` in catalogue.py. */
export interface Files {
  bytes: number[];
  extents: number[];
  gap: number[];
  length: number[];
}

export type Values = Record<string, number | null>;

/** Return a value as the command has it. */
export function wordOf(option: Option, value: number): string {
  return option.choices?.[value] ?? `${value}`;
}

/** Return what is wrong with a value, in words for people, or null. */
export function wrongWith(option: Option, value: number): string | null {
  if (option.choices)
    return option.choices[value] === undefined
      ? `${option.option}: choose from ${option.choices.join(", ")}`
      : null;
  if (option.kind === "int" && !Number.isInteger(value))
    return `${option.option}: ${value} is not a whole number`;
  if (option.kind === "int" && !Number.isSafeInteger(value))
    return `${option.option}: ${value} is too large for the page; use the command`;
  const { low, high } = option;
  if ((low !== null && value < low) || (high !== null && value > Number(high)))
    return `${option.option}: ${value} is outside ${low} to ${high}`;
  return null;
}
