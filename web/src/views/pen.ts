// SPDX-License-Identifier: MIT
/** Draws the same picture on a canvas or as SVG.  Colours are the names of style.css. */

export const COLOURS = ["accent", "line", "muted", "page", "raised", "text", "second"] as const;
export type Colour = (typeof COLOURS)[number];
export type Colours = Record<Colour, string>;
export type Align = "start" | "middle" | "end";

export interface Pen {
  /** Draw a line through points x0, y0, x1, y1 ... */
  line(points: ArrayLike<number>, colour: Colour, width?: number): void;
  box(x: number, y: number, width: number, height: number, colour: Colour): void;
  /** Write a line of text; y is the base line. */
  text(x: number, y: number, text: string, colour: Colour, align?: Align): void;
}

/** Draws a picture of a size in CSS pixels. */
export type Drawing = (pen: Pen, width: number, height: number) => void;

export const FONT_PX = 12;
const FONT = `${FONT_PX}px system-ui, sans-serif`;

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const probe = document.createElement("span");
  element.append(probe);
  const resolved = COLOURS.map((name) => {
    probe.style.color = style.getPropertyValue(`--${name}`);
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(resolved) as Colours;
}

export class CanvasPen implements Pen {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly colours: Colours,
  ) {
    context.font = FONT;
    context.lineJoin = "bevel";
  }

  line(points: ArrayLike<number>, colour: Colour, width = 1): void {
    const { context } = this;
    context.strokeStyle = this.colours[colour];
    context.lineWidth = width;
    context.beginPath();
    for (let i = 0; i < points.length; i += 2) context.lineTo(points[i]!, points[i + 1]!);
    context.stroke();
  }

  box(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.context.fillStyle = this.colours[colour];
    this.context.fillRect(x, y, width, height);
  }

  text(x: number, y: number, text: string, colour: Colour, align: Align = "start"): void {
    this.context.fillStyle = this.colours[colour];
    this.context.textAlign = align === "middle" ? "center" : align;
    this.context.fillText(text, x, y);
  }
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  constructor(private readonly colours: Colours) {}

  line(points: ArrayLike<number>, colour: Colour, width = 1): void {
    const texts = Array.from(points, short);
    this.parts.push(
      `<polyline points="${texts.join(" ")}" fill="none" stroke="${this.colours[colour]}" ` +
        `stroke-width="${width}" stroke-linejoin="bevel"/>`,
    );
  }

  box(x: number, y: number, width: number, height: number, colour: Colour): void {
    const [left, top, wide, high] = [x, y, width, height].map(short);
    this.parts.push(
      `<rect x="${left}" y="${top}" width="${wide}" height="${high}" ` +
        `fill="${this.colours[colour]}"/>`,
    );
  }

  text(x: number, y: number, text: string, colour: Colour, align: Align = "start"): void {
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${this.colours[colour]}" ` +
        `text-anchor="${align}">${escaped(text)}</text>`,
    );
  }

  svg(width: number, height: number): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" ` +
      `font-size="${FONT_PX}">\n${this.parts.join("\n")}\n</svg>\n`
    );
  }
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
