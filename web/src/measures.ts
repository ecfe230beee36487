// SPDX-License-Identifier: MIT
/** The measures of the command's table (understudy_devices/measure/metrics.py: from_figures). */

export interface Measure {
  key: string;
  label: string;
  unit: string;
  higherIsBetter?: boolean;
}

export const MEASURES: Measure[] = [
  { key: "mean_service_ms", label: "mean service", unit: "ms" },
  { key: "var_service_ms2", label: "variance service", unit: "ms²" },
  { key: "mean_response_ms", label: "mean response", unit: "ms" },
  { key: "var_response_ms2", label: "variance response", unit: "ms²" },
  {
    key: "throughput_sectors_per_ms",
    label: "throughput",
    unit: "sectors/ms",
    higherIsBetter: true,
  },
  { key: "p50_response_ms", label: "p50 response", unit: "ms" },
  { key: "p95_response_ms", label: "p95 response", unit: "ms" },
  { key: "p99_response_ms", label: "p99 response", unit: "ms" },
  { key: "p999_response_ms", label: "p99.9 response", unit: "ms" },
  { key: "max_response_ms", label: "longest response", unit: "ms" },
];

const NS_PER_MS = 1e6;

/** Return the measures of a run by their keys; percentiles are at most 1/256 too low. */
export function measuresOf(
  figures: Record<string, number>,
  isArray: boolean,
): Record<string, number> {
  const of = (name: string): number => figures[name] ?? NaN;
  const service = isArray ? "model" : "service";
  const busy = of("last_completion_ns") - of("first_arrival_ns");
  const percentile = (permille: number) => of(`response.permille.${permille}`) / NS_PER_MS;
  return {
    mean_service_ms: of(`${service}.mean`) / NS_PER_MS,
    var_service_ms2: of(`${service}.variance`) / NS_PER_MS ** 2,
    mean_response_ms: of("response.mean") / NS_PER_MS,
    var_response_ms2: of("response.variance") / NS_PER_MS ** 2,
    throughput_sectors_per_ms: of("sectors") / (busy / NS_PER_MS),
    p50_response_ms: percentile(500),
    p95_response_ms: percentile(950),
    p99_response_ms: percentile(990),
    p999_response_ms: percentile(999),
    max_response_ms: of("longest_response_ns") / NS_PER_MS,
  };
}
