// SPDX-License-Identifier: MIT
// A card's document, as in its file: it may be wrong, so any part may have any value.

export type Part = { [key: string]: Value };
export type Value = string | number | boolean | null | Part | Value[];

export const parts = (value: Value | undefined): Part[] =>
  Array.isArray(value) ? value.filter((one): one is Part => isPart(one)) : [];

export const isPart = (value: Value | undefined): value is Part =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Bits `high` to `low`, both included. */
export interface Bits {
  high: number;
  low: number;
}

/** Return the bits of a field; null if they are wrong. */
export function bitsOf(field: Part): Bits | null {
  const match = /^(\d{1,2})(?::(\d{1,2}))?$/.exec(String(field.bits ?? ""));
  if (!match) return null;
  const high = Number(match[1]);
  const low = Number(match[2] ?? match[1]);
  return high < low ? null : { high, low };
}

export const textOfBits = ({ high, low }: Bits): number | string =>
  high === low ? high : `${high}:${low}`;

/** Return a number as an author writes it; other values stay. */
export function numberOf(text: string): number | string {
  const plain = text.trim().toLowerCase();
  if (!/^(0x[0-9a-f]+|[0-9]+)$/.test(plain)) return text;
  const value = BigInt(plain);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : `0x${value.toString(16)}`;
}

/** Return bits for `count` of them from `low` on, moved so that they are free and in the register;
 * null if they are nowhere free. */
export function fitted(wanted: Bits, width: number, others: Bits[]): Bits | null {
  const count = wanted.high - wanted.low + 1;
  const isFree = (low: number) =>
    low >= 0 &&
    low + count <= width &&
    others.every((other) => other.high < low || other.low >= low + count);
  for (let distance = 0; distance < width; distance++) {
    for (const low of [wanted.low - distance, wanted.low + distance]) {
      if (isFree(low)) return { high: low + count - 1, low };
    }
  }
  return null;
}

/** Return a name that none of the entries has. */
export function newName(entries: Part[], stem: string): string {
  const known = new Set(entries.map(({ name }) => name));
  for (let number = 1; ; number++) {
    if (!known.has(`${stem}${number}`)) return `${stem}${number}`;
  }
}
