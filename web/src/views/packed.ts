// SPDX-License-Identifier: MIT
/** Runs as bytes, in the form that understudy_devices/show/views.py describes. */
import { inMs, type Columns } from "./columns.ts";
import { mechanicsOfCurves, type Curves, type Mechanics } from "./mechanics.ts";

export const SCHEMA = "understudy.views/1";
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };
const TIMES = ["arrival_ns", "wait_ns", "delay_ns", "service_ns"] as const;
const NUMBERS = ["sector", "sectors", "owner", "op", "reason", "hit"] as const;

type Place = [type: keyof typeof TYPES, place: number, length: number];

interface Header {
  schema: string;
  capacity: number;
  disk: Curves | null;
  runs: {
    name: string;
    requests: number;
    first?: number;
    columns: Record<(typeof TIMES)[number] | (typeof NUMBERS)[number], Place>;
    responses: Place | null;
  }[];
}

export interface Run {
  name: string;
  /** How many requests the run has; the columns may have fewer, from `first` on. */
  requests: number;
  first: number;
  columns: Columns;
  /** Response times of all requests, in ms and in ascending order, if the columns have not all. */
  responses: Float64Array | null;
}

export interface Packed {
  capacity: number; // sectors
  disk: Mechanics | null;
  runs: Run[];
}

/** Read runs; an Error if the bytes are of another form. */
export function unpacked(bytes: ArrayBuffer): Packed {
  const header = headerOf(bytes);
  const begin = 4 + new DataView(bytes).getUint32(0, true);
  const take = ([type, place, length]: Place) =>
    new TYPES[type](bytes, begin + place, length) as ArrayLike<number>;
  const { capacity, disk } = header;
  const runs = header.runs.map(({ name, requests, first, columns, responses }) => ({
    name,
    requests,
    first: first ?? 0,
    columns: columnsFrom(
      Object.fromEntries(Object.entries(columns).map(([key, place]) => [key, take(place)])),
    ),
    responses: responses && inMs(Float64Array.from(take(responses))),
  }));
  return { capacity, disk: disk && mechanicsOfCurves(disk, capacity), runs };
}

function headerOf(bytes: ArrayBuffer): Header {
  try {
    const length = new DataView(bytes).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Header;
    if (header.schema === SCHEMA) return header;
    throw new Error(`their form is ${header.schema}, and this page reads ${SCHEMA}`);
  } catch (error) {
    throw new Error(`These requests cannot be read: ${(error as Error).message}`);
  }
}

function columnsFrom(of: Record<string, ArrayLike<number>>): Columns {
  const [between, wait, delay, service] = TIMES.map((name) => of[name]!);
  const size = between!.length;
  const time = () => new Float64Array(size);
  const [arrival, dispatch, start, completion] = [time(), time(), time(), time()];
  for (let i = 0, now = 0; i < size; i++) {
    arrival[i] = now += between![i]!;
    dispatch[i] = now + wait![i]!;
    start[i] = dispatch[i]! + delay![i]!;
    completion[i] = start[i]! + service![i]!;
  }
  const numbers = <Kind>(name: (typeof NUMBERS)[number], kind: { from(of: ArrayLike<number>): Kind }) =>
    kind.from(of[name]!);
  return {
    arrival: inMs(arrival),
    dispatch: inMs(dispatch),
    start: inMs(start),
    completion: inMs(completion),
    sector: numbers("sector", Float64Array),
    sectors: numbers("sectors", Uint32Array),
    owner: numbers("owner", Uint32Array),
    op: numbers("op", Uint8Array),
    reason: numbers("reason", Uint8Array),
    hit: numbers("hit", Uint8Array),
  };
}
