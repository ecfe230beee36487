// SPDX-License-Identifier: MIT
/** The command that does the same as the page. */
import { wordOf, type Catalogue, type Option, type Values } from "./simulator/catalogue.ts";

export interface Setting {
  workload: string;
  disk: string;
  schedulers: string[];
  values: Values;
}

export function optionsOf(catalogue: Catalogue, workload: string): Option[] {
  const chosen = catalogue.workloads.find(({ name }) => name === workload);
  return [
    ...(chosen?.options ?? []),
    ...catalogue.device,
    ...catalogue.simulator,
    ...catalogue.run,
  ];
}

export function commandOf(catalogue: Catalogue, setting: Setting): string {
  const words = ["understudy predict"];
  if (setting.workload !== catalogue.defaults.workload) words.push(`--workload ${setting.workload}`);
  if (setting.disk !== catalogue.defaults.disk) words.push(`--disk ${setting.disk}`);
  words.push(`--schedulers ${setting.schedulers.join(",")}`);
  for (const option of optionsOf(catalogue, setting.workload)) {
    const value = setting.values[option.field];
    if (value != null && value !== option.default) words.push(`${option.option} ${wordOf(option, value)}`);
  }
  return words.join(" ");
}
