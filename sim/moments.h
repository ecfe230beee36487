/* SPDX-License-Identifier: MIT */
/*
 * Mean, population variance and percentiles of times, without storing the times: exact sums, and a
 * histogram. Below 256, each value has a separate cell of the histogram; above, the width of a cell
 * is at most 1/256 of its values.
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

/* Return the mean; 0 if there are no values. */
double moments_mean(const struct moments *moments);
double moments_variance(const struct moments *moments);

void histogram_add(struct histogram *histogram, u64 value);

/* Take away a histogram of some of the values. The largest value stays that of all values. */
void histogram_take(struct histogram *histogram, const struct histogram *part);

/*
 * Return a percentile by nearest rank, as the smallest value of the cell that holds it; 0 if there
 * are no values. permille is from 1 to 1000.
 */
u64 histogram_permille(const struct histogram *histogram, u32 permille);

/* Compute all percentiles: set value[i] to the percentile of i + 1 permille. */
void histogram_distribution(const struct histogram *histogram, u64 value[1000]);

#endif
