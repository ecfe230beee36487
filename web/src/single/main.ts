// SPDX-License-Identifier: MIT
/**
 * The views in a page that is one file: the runs are in its element #runs, as base64 of gzip of what
 * understudy_devices/show/views.py packs; the views go into its element #views.  If it has an
 * element #shown, that says in JSON which ones, and when.
 */
import { mount } from "svelte";

import "../style.css";
import { preparedOf } from "../views/prepared";
import type { Shown } from "../views/shared";
import SingleViews from "./SingleViews.svelte";

async function bytesOf(text: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function show(): Promise<void> {
  const place = document.getElementById("views")!;
  try {
    const bytes = await bytesOf(document.getElementById("runs")!.textContent!);
    const shown = JSON.parse(document.getElementById("shown")?.textContent ?? "null") as Shown | null;
    place.replaceChildren();
    mount(SingleViews, { target: place, props: { prepared: preparedOf(bytes), shown } });
  } catch (error) {
    place.textContent = `The pictures cannot be shown: ${(error as Error).message}`;
  }
}

void show();
