// SPDX-License-Identifier: MIT
/** Saves files: drawings as SVG, and as PNG with twice the pixels. */
import { CanvasPen, SvgPen, type Colours, type Drawing } from "./pen.ts";

const PNG_SCALE = 2;

export function saveSvg(
  name: string,
  drawing: Drawing,
  width: number,
  height: number,
  colours: Colours,
): void {
  const pen = new SvgPen(colours);
  pen.box(0, 0, width, height, "page");
  drawing(pen, width, height);
  save(`${fileName(name)}.svg`, new Blob([pen.svg(width, height)], { type: "image/svg+xml" }));
}

export function savePng(
  name: string,
  drawing: Drawing,
  width: number,
  height: number,
  colours: Colours,
): void {
  const canvas = document.createElement("canvas");
  canvas.width = width * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  const context = canvas.getContext("2d")!;
  context.scale(PNG_SCALE, PNG_SCALE);
  const pen = new CanvasPen(context, colours);
  pen.box(0, 0, width, height, "page");
  drawing(pen, width, height);
  canvas.toBlob((blob) => blob && save(`${fileName(name)}.png`, blob));
}

export function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
}

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
