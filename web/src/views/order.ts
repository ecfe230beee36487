// SPDX-License-Identifier: MIT
/** Searches and sorts of arrays of a million times. */

const RADIX = 16;
const BUCKETS = 1 << RADIX;

/** Return the places of numbers, none of them negative, in ascending order; ties keep theirs. */
export function orderOf(values: Float64Array): Uint32Array {
  // The bits of a double that is not negative are in the order of its value.
  const bits = new Uint16Array(values.buffer, values.byteOffset, values.length * 4);
  let order = Uint32Array.from(values.keys());
  let next = new Uint32Array(values.length);
  const count = new Uint32Array(BUCKETS + 1);
  for (let part = 0; part < 4; part++) {
    count.fill(0);
    for (let i = part; i < bits.length; i += 4) count[bits[i]! + 1]!++;
    for (let i = 0; i < BUCKETS; i++) count[i + 1]! += count[i]!;
    for (const place of order) next[count[bits[4 * place + part]!]!++] = place;
    [order, next] = [next, order];
  }
  return order;
}

/** Return the first place of a value that is at least the limit, in an ascending array. */
export function firstFrom(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return how many values of an ascending array are at most the limit. */
export function countTo(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
