/* SPDX-License-Identifier: MIT */
/*
 * Mean, population variance and percentiles of times, without storing the times: exact sums, and a
 * histogram. The width of each of its cells is at most 1/256 of the cell's values.
 */
#ifndef UNDERSTUDY_MOMENTS_H
#define UNDERSTUDY_MOMENTS_H

#include "../core/port.h"

#define CELLS_A_DOUBLING 256
#define CELLS (57 * CELLS_A_DOUBLING)

/* Usable when zeroed. */
struct moments {
	u64 count;
	unsigned __int128 sum;
	unsigned __int128 squares;
};

/* Usable when zeroed.  The largest value is exact. */
struct histogram {
	u64 count;
	u64 max;
	u64 cell[CELLS];
};

void moments_add(struct moments *moments, u64 value);

/* The mean; 0 if there are no values. */
double moments_mean(const struct moments *moments);
double moments_variance(const struct moments *moments);

void histogram_add(struct histogram *histogram, u64 value);

/*
 * Percentile by nearest rank, permille from 1 to 1000: returns the smallest value of the cell that
 * holds the percentile; 0 if there are no values.
 */
u64 histogram_permille(const struct histogram *histogram, u32 permille);

/* All percentiles: value[i] is set to the percentile of i + 1 permille. */
void histogram_distribution(const struct histogram *histogram, u64 value[1000]);

#endif
