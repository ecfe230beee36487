// SPDX-License-Identifier: MIT
/** The curves of a disk's model (core/drive/disk.h), in units for people. */
import type { Disk } from "../simulator/catalogue.ts";

const NS_PER_MS = 1e6;
const SECTOR_BYTES = 512;
const PS_PER_S = 1e12;

export interface Mechanics {
  capacity: number; // sectors
  /** Distance in sectors, and the time in ms until the head is on the track. */
  reach: [number, number][];
  /** Sector, and rate in MB/s from there on; empty: transfers take no time. */
  rate: [number, number][];
  rotation: number; // ms; 0: no rotation is modelled
  /** Distances of the curve are in tracks, which differ in length. */
  inTracks: boolean;
}

/** Return the mechanics; null for an array, which has none. */
export function mechanicsOf({ numbers, arrays }: Disk): Mechanics | null {
  const of = (name: string) => Number(numbers[name] ?? 0);
  const seek = pairs(arrays["device.drive.disk.seek.point"]);
  if (!seek.length) return null;
  const intercept = of("intercept_ns");
  return {
    capacity: of("device.drive.disk.capacity_sectors"),
    reach: seek.map(([distance, time]) => [distance, (intercept + time) / NS_PER_MS]),
    rate: pairs(arrays["device.drive.disk.transfer.point"]).map(([sector, time]) => [
      sector,
      (SECTOR_BYTES * PS_PER_S) / time / 1e6,
    ]),
    rotation: of("rotation_ns") / NS_PER_MS,
    inTracks: of("tracks_step") > 0,
  };
}

function pairs(values: string[] = []): [number, number][] {
  return Array.from({ length: values.length / 2 }, (_, i) => [
    Number(values[2 * i]),
    Number(values[2 * i + 1]),
  ]);
}
