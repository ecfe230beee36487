// SPDX-License-Identifier: MIT
/**
 * The least and the greatest of any range of an array, in logarithmic time: an envelope of a
 * million points is exact, however far one zooms out.
 */
export interface Extremes {
  /** The tree of minima: node i covers nodes 2i and 2i + 1; the values are the last `size`. */
  least: Float32Array;
  greatest: Float32Array;
}

export function extremesOf(values: ArrayLike<number>): Extremes {
  const size = values.length;
  const least = new Float32Array(2 * size);
  const greatest = new Float32Array(2 * size);
  least.set(values, size);
  greatest.set(values, size);
  for (let node = size - 1; node > 0; node--) {
    least[node] = Math.min(least[2 * node]!, least[2 * node + 1]!);
    greatest[node] = Math.max(greatest[2 * node]!, greatest[2 * node + 1]!);
  }
  return { least, greatest };
}

/** Return the least and the greatest of the values from one place up to another, which is larger. */
export function extremesIn(of: Extremes, from: number, to: number): [number, number] {
  const { least, greatest } = of;
  const size = least.length / 2;
  let low = Infinity;
  let high = -Infinity;
  for (let left = from + size, right = to + size; left < right; left >>= 1, right >>= 1) {
    if (left & 1) {
      low = Math.min(low, least[left]!);
      high = Math.max(high, greatest[left++]!);
    }
    if (right & 1) {
      low = Math.min(low, least[--right]!);
      high = Math.max(high, greatest[right]!);
    }
  }
  return [low, high];
}
