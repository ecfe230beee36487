// SPDX-License-Identifier: MIT
/** Prepares packed runs for drawing, off the page's thread. */
import { preparedOf, type Prepared } from "./prepared.ts";
import { buffersOf } from "./recorded.ts";

export type Reply = { prepared: Prepared } | { error: string };

self.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
  try {
    const prepared = preparedOf(data);
    const transfer = prepared.runs.flatMap(({ recorded }) => buffersOf(recorded));
    self.postMessage({ prepared } satisfies Reply, { transfer });
  } catch (error) {
    self.postMessage({ error: (error as Error).message } satisfies Reply);
  }
};
