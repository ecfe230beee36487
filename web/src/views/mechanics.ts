// SPDX-License-Identifier: MIT
/** The curves of a disk's model (core/drive/disk.h), in units for people. */
import type { Disk } from "../simulator/catalogue.ts";

const NS_PER_MS = 1e6;
const SECTOR_BYTES = 512;
const PS_PER_S = 1e12;

/** The papers' on-board cache (core/drive/disk_cache.h). */
export interface Cache {
  segments: number;
  segmentSectors: number;
  prefetchSectors: number;
}

export interface Mechanics {
  capacity: number; // sectors
  /** Distance in sectors, and the time in ms until the head is on the track. */
  reach: [number, number][];
  /** Sector, and rate in MB/s from there on; empty: transfers take no time. */
  rate: [number, number][];
  rotation: number; // ms; 0: no rotation is modelled
  /** Distances of the curve are in tracks, which differ in length. */
  inTracks: boolean;
  /** null: the disk has none, or one of another kind. */
  cache: Cache | null;
}

/** The curves as understudy_devices/show/views.py writes them, in the units of core/. */
export interface Curves {
  intercept_ns: number;
  seek: [number, number][];
  transfer: [number, number][];
  rotation_ns: number;
  in_tracks: boolean;
  /** Segments, sectors of a segment, sectors read ahead; null or absent: none of this kind. */
  cache?: [number, number, number] | null;
}

/** Return the mechanics; null for an array, which has none. */
export function mechanicsOf({ numbers, arrays }: Disk): Mechanics | null {
  const of = (name: string) => Number(numbers[name] ?? 0);
  const seek = pairs(arrays["device.drive.disk.seek.point"]);
  if (!seek.length) return null;
  const curves: Curves = {
    intercept_ns: of("intercept_ns"),
    seek,
    transfer: pairs(arrays["device.drive.disk.transfer.point"]),
    rotation_ns: of("rotation_ns"),
    in_tracks: of("tracks_step") > 0,
    cache: of("buffered")
      ? null
      : [of("cache_segments"), of("cache_segment_sectors"), of("cache_prefetch_sectors")],
  };
  return mechanicsOfCurves(curves, of("device.drive.disk.capacity_sectors"));
}

/** Return curves that have these mechanics. */
export function curvesOf({ reach, rate, rotation, inTracks, cache }: Mechanics): Curves {
  return {
    intercept_ns: 0,
    seek: reach.map(([distance, time]) => [distance, time * NS_PER_MS]),
    transfer: rate.map(([sector, each]) => [sector, (SECTOR_BYTES * PS_PER_S) / (each * 1e6)]),
    rotation_ns: rotation * NS_PER_MS,
    in_tracks: inTracks,
    cache: cache && [cache.segments, cache.segmentSectors, cache.prefetchSectors],
  };
}

export function mechanicsOfCurves(curves: Curves, capacity: number): Mechanics {
  const { intercept_ns, seek, transfer, rotation_ns, in_tracks, cache } = curves;
  const [segments, segmentSectors, prefetchSectors] = cache ?? [0, 0, 0];
  return {
    capacity,
    reach: seek.map(([distance, time]) => [distance, (intercept_ns + time) / NS_PER_MS]),
    rate: transfer.map(([sector, time]) => [sector, (SECTOR_BYTES * PS_PER_S) / time / 1e6]),
    rotation: rotation_ns / NS_PER_MS,
    inTracks: in_tracks,
    cache: segments ? { segments, segmentSectors, prefetchSectors } : null,
  };
}

function pairs(values: string[] = []): [number, number][] {
  return Array.from({ length: values.length / 2 }, (_, i) => [
    Number(values[2 * i]),
    Number(values[2 * i + 1]),
  ]);
}
