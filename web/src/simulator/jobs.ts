// SPDX-License-Identifier: MIT
/**
 * From options to a job of the module, as understudy_devices/platforms/sim/in_simulator.py makes
 * one; tests/studio compares both.
 */
import { wrongWith } from "./catalogue.ts";
import type { Catalogue, Disk, DiskName, Files, Values } from "./catalogue.ts";
import type { Field, Job, Part } from "./module.ts";

const SECTOR_BYTES = 512;
const KIB = 1024;
const LINUX_MAX_SECTORS = 2560;
const PENDING = 4096;
const PENDING_LEAST = 1024;
const PENDING_MOST = 2 ** 20;
const BLOCK_BYTES = 4096;
// SURGE's page cache (ask/workloads/surge.py): in proportion to the paper's disk and cache.
const PAPER_DISK_BYTES = 73_400_000_000n;
const PAPER_CACHE_BYTES = 65_000_000n;
const CACHE_BYTES_PER_PROCESS = 512 * KIB;
const LINUX_READ_AHEAD_KIB = 128;
// The Vesper assignments' files (ask/workloads/concurrent_read.py).
const FILE_BYTES = 10_000;
const CACHE_PER_READ_AHEAD = 4;

export interface Question {
  workload: string;
  scheduler: string;
  /** The options by field; null: the default. */
  values: Values;
  /** Tunables of the scheduler that have another value than the default. */
  tunables: Record<string, bigint>;
}

export interface Surroundings {
  catalogue: Catalogue;
  name: DiskName;
  disk: Disk;
  files: Files | null;
  part(kind: "scheduler" | "prefetcher" | "replacer" | "workload", name: string): Part;
}

interface Cache {
  bytes: number;
  readAheadKib: number;
  pageBytes: number;
}

interface Simulated {
  engine: string;
  parameters: Record<string, number>;
  layout: Layout | null;
  cache: Cache | null;
}

interface Layout {
  bytes: bigint[];
  first: bigint[];
  start: bigint[];
  length: bigint[];
}

/** Why a question cannot be simulated, in words for people. */
export class Impossible extends Error {}

export function jobOf(question: Question, around: Surroundings): Job {
  const value = reader(question, around.catalogue);
  const processes = value("processes");
  const { engine, parameters, layout, cache } = simulated(question, value, around);
  checkPolicies(question, cache, around.catalogue);
  const { name, disk } = around;
  const scheduler = around.part("scheduler", question.scheduler);
  if (scheduler.needsModel && name.is_array)
    throw new Impossible(`${scheduler.name} needs a disk's model, and ${name.name} is an array`);
  const workload = around.part("workload", engine);
  const depth = value("queue_depth") || name.servers;
  const numbers: Record<string, bigint> = {
    "input.requests": BigInt(value("requests")),
    "input.max_pending": BigInt(mostPending(question, processes, cache, depth, around.catalogue)),
    "input.merge_sectors": BigInt(name.is_array ? 0 : LINUX_MAX_SECTORS),
    "input.gap_ns": scaled(1000, value("gap_us")),
    "input.ask_ns": scaled(1000, value("ask_us")),
    "input.depth": BigInt(depth),
    "input.array.servers": 1n,
    "input.array.mean_service_ns": 0n,
    "input.array.exponential": 0n,
    "input.world.capacity_sectors": BigInt(around.catalogue.capacity_sectors),
    "input.world.seed": BigInt(value("seed")),
    "input.world.processes": BigInt(processes),
    ...bigints(disk.numbers),
  };
  if (!name.is_array) Object.assign(numbers, ofDrive(name, depth, value("seed")));
  const arrays: Record<string, bigint[]> = {
    "input.tunables": chosen(scheduler.tunables, {
      ...bigints(disk.following[scheduler.name] ?? {}),
      ...question.tunables,
    }),
    "input.parameters": chosen(workload.tunables, bigintsOf(parameters)),
    ...Object.fromEntries(Object.entries(disk.arrays).map(([key, all]) => [key, all.map(BigInt)])),
  };
  const job: Job = { scheduler: scheduler.name, workload: engine, numbers, arrays };
  if (layout) {
    numbers["input.world.layout.files"] = BigInt(layout.bytes.length);
    numbers["extents"] = BigInt(layout.start.length);
    for (const [key, column] of Object.entries(layout)) arrays[`input.world.layout.${key}`] = column;
  }
  if (cache) {
    numbers["input.cache.bytes"] = BigInt(cache.bytes);
    numbers["input.cache.page_sectors"] = BigInt(cache.pageBytes / SECTOR_BYTES);
    numbers["input.cache.read_ahead_pages"] = BigInt(
      Math.floor((cache.readAheadKib * KIB) / cache.pageBytes),
    );
    const { prefetcher, replacer } = around.catalogue.policies;
    job.prefetcher = choiceOf(question, "prefetch", around.catalogue) ?? prefetcher;
    job.replacer = choiceOf(question, "replacement", around.catalogue) ?? replacer;
    for (const kind of ["prefetcher", "replacer"] as const)
      arrays[`input.cache.policies.${kind}_tunables`] = chosen(
        around.part(kind, job[kind]!).tunables,
        {},
      );
  }
  return job;
}

function ofDrive(name: DiskName, depth: number, seed: number): Record<string, bigint> {
  const most = name.most_at_once ?? depth;
  if (depth > most) throw new Impossible(`--queue-depth: ${name.name} takes up to ${most} at a time`);
  const phase = { rotation_seed: BigInt(seed) };
  if (depth === 1 || name.queue_age_limit_ns === null) return phase;
  return {
    ...phase,
    queue_depth: BigInt(depth),
    queue_age_limit_ns: BigInt(name.queue_age_limit_ns),
  };
}

/** Refuse policies that would have no effect, as the command does. */
function checkPolicies(question: Question, cache: Cache | null, catalogue: Catalogue): void {
  const prefetch = choiceOf(question, "prefetch", catalogue);
  const isGiven = question.values["read_ahead_kib"] != null;
  if (prefetch && !(cache && (isGiven || cache.readAheadKib)))
    throw new Impossible(
      `--prefetch: ${prefetch} may prefetch nothing: ${question.workload} has a read-ahead of 0; ` +
        "choose the longest prefetch, as read ahead",
    );
  if (choiceOf(question, "replacement", catalogue) && !cache)
    throw new Impossible(`--replacement: ${question.workload} has no page cache here`);
}

/** Return the name that was chosen, or null for the default. */
function choiceOf(question: Question, field: string, catalogue: Catalogue): string | null {
  const place = question.values[field] ?? null;
  const workload = catalogue.workloads.find(({ name }) => name === question.workload);
  const option = workload?.options.find((each) => each.field === field);
  return place === null || place === option?.default ? null : (option?.choices?.[place] ?? null);
}

type Reader = (field: string) => number;

/** Return a function that reads an option: given and possible, or its default, or 0. */
function reader(question: Question, catalogue: Catalogue): Reader {
  const workload = catalogue.workloads.find(({ name }) => name === question.workload);
  if (!workload) throw new Impossible(`there is no workload ${question.workload}`);
  const options = [workload.options, catalogue.run, catalogue.device, catalogue.simulator].flat();
  const values = Object.fromEntries(
    options.map((option) => {
      const value = question.values[option.field] ?? null;
      const wrong = value === null ? null : wrongWith(option, value);
      if (wrong) throw new Impossible(wrong);
      return [option.field, value ?? option.default];
    }),
  );
  return (field) => values[field] ?? 0;
}

function simulated(question: Question, value: Reader, around: Surroundings): Simulated {
  const thinking = {
    writes_percent: value("writes_percent"),
    think_ns: Number(scaled(1e6, value("think_ms"))),
  };
  const bare = { layout: null, cache: null };
  switch (question.workload) {
    case "random":
    case "sequential":
      return { engine: question.workload, parameters: thinking, ...bare };
    case "poisson": {
      const rate = value("rate");
      if (!rate) throw new Impossible("--workload: poisson needs --rate");
      const parameters = {
        mean_gap_ns: Number(halfEven((1e9 * value("processes")) / rate)),
        writes_percent: value("writes_percent"),
      };
      return { engine: "poisson", parameters, ...bare };
    }
    case "surge-direct":
    case "surge-buffered":
      return {
        engine: "surge",
        parameters: { think_scale_milli: Number(scaled(1000, value("think_scale"))) },
        layout: surgeLayout(around.files),
        cache: question.workload === "surge-direct" ? null : surgeCache(question, value, around),
      };
    case "concurrent-read": {
      const ahead = value("read_ahead_kib");
      const bytes =
        value("page_cache_bytes") || CACHE_PER_READ_AHEAD * ahead * KIB * value("processes");
      return {
        engine: "concurrent-read",
        parameters: { think_ns: thinking.think_ns },
        layout: spread(around.catalogue.capacity_sectors, value("processes")),
        cache: bytes ? { bytes, readAheadKib: ahead, pageBytes: SECTOR_BYTES } : null,
      };
    }
    default:
      throw new Impossible(`the page does not simulate ${question.workload}`);
  }
}

function surgeCache(question: Question, value: Reader, around: Surroundings): Cache {
  const disk = BigInt(around.catalogue.capacity_sectors * SECTOR_BYTES);
  const share = Number((PAPER_CACHE_BYTES * disk) / PAPER_DISK_BYTES);
  const own = Math.max(share, CACHE_BYTES_PER_PROCESS * value("processes"));
  return {
    bytes: value("page_cache_bytes") || own,
    readAheadKib: question.values["read_ahead_kib"] ?? LINUX_READ_AHEAD_KIB,
    pageBytes: BLOCK_BYTES,
  };
}

function surgeLayout(files: Files | null): Layout {
  if (!files) throw new Impossible("the layout of the files is not loaded");
  const layout: Layout = { bytes: files.bytes.map(BigInt), first: [0n], start: [], length: [] };
  let end = 0;
  let extent = 0;
  for (const [file, bytes] of files.bytes.entries()) {
    const blocks = Math.ceil(bytes / BLOCK_BYTES) * (BLOCK_BYTES / SECTOR_BYTES);
    for (let i = files.extents[file]!; i > 0; i--, extent++) {
      const start = end + files.gap[extent]!;
      const length = files.length[extent]! || blocks;
      layout.start.push(BigInt(start));
      layout.length.push(BigInt(length));
      end = start + length;
    }
    layout.first.push(BigInt(extent));
  }
  return layout;
}

/** Files of 10 KB, evenly spread over the disk. */
function spread(capacitySectors: number, files: number): Layout {
  const length = Math.ceil(FILE_BYTES / SECTOR_BYTES);
  const stride = Math.floor(capacitySectors / files);
  if (stride < length) throw new Impossible(`--processes: ${files} files of 10 KB do not fit`);
  const numbers = Array.from({ length: files }, (_, file) => BigInt(file));
  return {
    bytes: numbers.map(() => BigInt(FILE_BYTES)),
    first: [...numbers, BigInt(files)],
    start: numbers.map((file) => file * BigInt(stride)),
    length: numbers.map(() => BigInt(length)),
  };
}

function mostPending(
  question: Question,
  processes: number,
  cache: Cache | null,
  depth: number,
  catalogue: Catalogue,
): number {
  if (question.workload === "poisson") return PENDING + depth;
  const each = cache ? 2 + Math.floor((2 * cache.readAheadKib * KIB) / cache.pageBytes) : 2;
  // Another prefetcher may have each page of the cache on its way.
  const isOther = cache && choiceOf(question, "prefetch", catalogue);
  const more = isOther ? Math.floor(cache.bytes / cache.pageBytes) : 0;
  return Math.min(Math.max(PENDING_LEAST, processes * each + more), PENDING_MOST);
}

function chosen(fields: Field[], values: Record<string, bigint>): bigint[] {
  return fields.map((field) => {
    const value = values[field.name] ?? field.initial;
    if (value < field.min || value > field.max)
      throw new Impossible(`${field.name} is ${value}, not from ${field.min} to ${field.max}`);
    return value;
  });
}

function scaled(scale: number, value: number): bigint {
  return BigInt(halfEven(scale * value));
}

/** Round as Python's round() does: halves to the even number. */
function halfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return floor + (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? 1 : 0);
}

function bigints(texts: Record<string, string>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, BigInt(text)]));
}

function bigintsOf(numbers: Record<string, number>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, BigInt(value)]));
}
