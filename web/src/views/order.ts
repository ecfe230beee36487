// SPDX-License-Identifier: MIT
/** Searches and sorts of arrays of a million times. */

const BUCKETS = 1 << 16;
const PARTS = 4; // of 16 bits, in a double

/** Return the places of numbers, none of them negative, in ascending order; ties keep theirs. */
export function orderOf(values: Float64Array): Uint32Array {
  const size = values.length;
  // The bits of a double that is not negative are in the order of its value.
  const bits = new Uint16Array(values.buffer, values.byteOffset, PARTS * size);
  let order = new Uint32Array(size);
  for (let i = 0; i < size; i++) order[i] = i;
  let next = new Uint32Array(size);
  const begin = new Uint32Array(BUCKETS);
  for (let part = 0; part < PARTS; part++) {
    begin.fill(0);
    for (let i = part; i < bits.length; i += PARTS) begin[bits[i]!]!++;
    for (let bucket = 0, sum = 0; bucket < BUCKETS; bucket++) {
      const count = begin[bucket]!;
      begin[bucket] = sum;
      sum += count;
    }
    for (let i = 0; i < size; i++) {
      const place = order[i]!;
      next[begin[bits[PARTS * place + part]!]!++] = place;
    }
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

/**
 * Return how many values of an ascending array are at most the limit; `known` of them are.  It is
 * fast if there are few more.
 */
export function countTo(values: Float64Array, limit: number, known = 0): number {
  let low = known;
  let step = 1;
  let high = values.length;
  if (known) {
    for (; low + step <= high && values[low + step - 1]! <= limit; step *= 2) low += step;
    high = Math.min(high, low + step);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
