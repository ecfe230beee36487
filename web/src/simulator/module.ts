// SPDX-License-Identifier: MIT
/**
 * The simulator's WebAssembly module (sim/wasm/module.h): its parts, and one simulation after the
 * other.  Times are ns, addresses and lengths are in sectors of 512 bytes.
 */

const KINDS = ["scheduler", "prefetcher", "replacer", "workload"] as const;
export type Kind = (typeof KINDS)[number];

export interface Field {
  name: string;
  help: string;
  initial: bigint;
  min: bigint;
  max: bigint;
}

/** What a part declares (sim/worker/describe.h). */
export interface Part {
  name: string;
  summary: string;
  needsModel: boolean;
  tunables: Field[];
  counters: { name: string; help: string }[];
}

/** A simulation as numbers and arrays, by their names in struct module. */
export interface Job {
  scheduler: string;
  workload: string;
  prefetcher?: string;
  replacer?: string;
  numbers: Record<string, bigint>;
  arrays: Record<string, readonly bigint[] | BigUint64Array>;
}

export const COLUMNS = {
  arrival_ns: BigInt64Array,
  dispatch_ns: BigInt64Array,
  start_ns: BigInt64Array,
  completion_ns: BigInt64Array,
  sector: BigInt64Array,
  request_id: BigInt64Array,
  model_service_ns: BigInt64Array,
  idle_ns: BigInt64Array,
  sectors: Uint32Array,
  owner: Uint32Array,
  op: Uint8Array,
  reason: Uint8Array,
  hit: Uint8Array,
} as const;

/** A row for each request, in order of arrival. */
export type Rows = { [name in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[name]> };

export interface Result {
  rows: Rows;
  figures: Record<string, number>;
  counters: Record<string, bigint>;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  text(): number;
  count(kind: number): number;
  describe(kind: number, index: number): number;
  begin(): void;
  choose(kind: number, index: number): void;
  set(value: bigint): number;
  array(count: number): number;
  run(): number;
  figures(): void;
}

/** The input is impossible, or a part broke a rule of its contract; the message says which. */
export class SimulationFailed extends Error {}

const NARROW: Record<string, typeof Uint32Array | typeof Uint8Array> = {
  "input.weight": Uint32Array,
  "input.io_class": Uint8Array,
  "input.level": Uint8Array,
  "input.world.rows.sectors": Uint32Array,
  "input.world.rows.owner": Uint32Array,
  "input.world.rows.op": Uint8Array,
};

export class Simulator {
  readonly parts: Record<Kind, Part[]>;
  private readonly exports: Exports;

  private constructor(instance: WebAssembly.Instance) {
    this.exports = instance.exports as unknown as Exports;
    this.exports._initialize();
    this.parts = {
      scheduler: this.describeAll("scheduler"),
      prefetcher: this.describeAll("prefetcher"),
      replacer: this.describeAll("replacer"),
      workload: this.describeAll("workload"),
    };
  }

  /** `imports` are those of a module with a user's scheduler (guest.ts). */
  static async load(
    module: WebAssembly.Module,
    imports: WebAssembly.Imports = {},
  ): Promise<Simulator> {
    return new Simulator(await WebAssembly.instantiate(module, imports));
  }

  get memory(): WebAssembly.Memory {
    return this.exports.memory;
  }

  /** Simulate; throws SimulationFailed. */
  run(job: Job): Result {
    const { exports } = this;
    exports.begin();
    for (const kind of KINDS) {
      const name = job[kind];
      if (name !== undefined) exports.choose(KINDS.indexOf(kind), this.indexOf(kind, name));
    }
    for (const [name, value] of Object.entries(job.numbers)) this.set(name, value);
    for (const [name, values] of Object.entries(job.arrays)) this.fill(name, values);
    const requests = Number(job.numbers["input.requests"]);
    const places = new Map<string, number>();
    for (const [name, Column] of Object.entries(COLUMNS)) {
      places.set(name, this.room(`columns.${name}`, requests * Column.BYTES_PER_ELEMENT));
    }
    const counters = this.part("scheduler", job.scheduler).counters;
    const counted = this.room("summary.counters", 8 * counters.length);
    for (const kind of ["prefetcher", "replacer"] as const) {
      const name = job[kind];
      if (name === undefined) continue;
      this.room(`summary.${kind}_counters`, 8 * this.part(kind, name).counters.length);
    }
    if (!exports.run()) throw new SimulationFailed(this.readText());
    const figures = this.readFigures();
    const completed = figures["completed"] ?? 0;
    const rows = Object.fromEntries(
      Object.entries(COLUMNS).map(([name, Column]) => [
        name,
        new Column(exports.memory.buffer, places.get(name)!, completed).slice(),
      ]),
    ) as unknown as Rows;
    const values = new BigUint64Array(exports.memory.buffer, counted, counters.length);
    return {
      rows,
      figures,
      counters: Object.fromEntries(counters.map(({ name }, i) => [name, values[i]!])),
    };
  }

  part(kind: Kind, name: string): Part {
    return this.parts[kind][this.indexOf(kind, name)]!;
  }

  private indexOf(kind: Kind, name: string): number {
    const index = this.parts[kind].findIndex((part) => part.name === name);
    if (index < 0) throw new SimulationFailed(`there is no ${kind} ${name}`);
    return index;
  }

  private set(name: string, value: bigint): void {
    this.writeText(name);
    if (!this.exports.set(BigInt.asUintN(64, value)))
      throw new SimulationFailed(`${name}: ${value} is not possible`);
  }

  private room(name: string, bytes: number): number {
    this.writeText(name);
    const place = this.exports.array(bytes);
    if (!place) throw new SimulationFailed(`${name}: no memory for ${bytes} bytes`);
    return place;
  }

  private fill(name: string, values: readonly bigint[] | BigUint64Array): void {
    const Narrow = NARROW[name];
    const bytes = values.length * (Narrow ?? BigUint64Array).BYTES_PER_ELEMENT;
    const place = this.room(name, bytes);
    const { buffer } = this.exports.memory; // the room may have moved it
    if (Narrow) new Narrow(buffer, place, values.length).set(Array.from(values, Number));
    else new BigUint64Array(buffer, place, values.length).set(values);
  }

  private describeAll(kind: Kind): Part[] {
    const number = KINDS.indexOf(kind);
    const parts = Array.from({ length: this.exports.count(number) }, (_, index) => {
      if (!this.exports.describe(number, index)) throw new SimulationFailed(this.readText());
      return this.readPart();
    });
    return parts;
  }

  private readPart(): Part {
    const text = new Uint8Array(this.exports.memory.buffer, this.exports.text(), TEXT_BYTES);
    const items = new TextDecoder().decode(text).split("\0")[Symbol.iterator]();
    const next = (): string => items.next().value ?? "";
    const count = (): number => Number(next());
    const name = next();
    const summary = next();
    const needsModel = next() === "1";
    const tunables = Array.from({ length: count() }, () => ({
      name: next(),
      help: next(),
      initial: BigInt(next()),
      min: BigInt(next()),
      max: BigInt(next()),
    }));
    const counters = Array.from({ length: count() }, () => ({ name: next(), help: next() }));
    return { name, summary, needsModel, tunables, counters };
  }

  private readFigures(): Record<string, number> {
    this.exports.figures();
    const lines = this.readText().trimEnd().split("\n");
    return Object.fromEntries(
      lines.map((line) => {
        const [name, value] = line.split(" ");
        return [name, Number(value)];
      }),
    );
  }

  private readText(): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.text(), TEXT_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  private writeText(text: string): void {
    const bytes = new TextEncoder().encode(`${text}\0`);
    new Uint8Array(this.exports.memory.buffer, this.exports.text(), bytes.length).set(bytes);
  }
}

const TEXT_BYTES = 65536;
