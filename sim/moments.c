// SPDX-License-Identifier: MIT
#include "moments.h"

/*
 * Each value below 256 has a separate cell. Above that, each range from a power of two to the next
 * has 256 cells.
 */
static u32 cell_of(u64 value)
{
	u32 shift = value < CELLS_A_DOUBLING ? 0 : 63 - __builtin_clzll(value) - 8;

	return (shift ? shift * CELLS_A_DOUBLING : 0) + (value >> shift);
}

/* The smallest value in a cell. */
static u64 cell_start(u32 cell)
{
	u32 shift = cell / CELLS_A_DOUBLING;

	if (shift <= 1)
		return cell;
	shift--;
	return (u64)(cell - shift * CELLS_A_DOUBLING) << shift;
}

void moments_add(struct moments *moments, u64 value)
{
	moments->count++;
	moments->sum += value;
	moments->squares += (unsigned __int128)value * value;
}

void histogram_add(struct histogram *histogram, u64 value)
{
	histogram->count++;
	histogram->cell[cell_of(value)]++;
	if (histogram->max < value)
		histogram->max = value;
}

double moments_mean(const struct moments *moments)
{
	return moments->count ? (double)moments->sum / (double)moments->count : 0;
}

double moments_variance(const struct moments *moments)
{
	double n = (double)moments->count;
	unsigned __int128 whole, around;
	double part;

	if (!moments->count)
		return 0;
	/*
	 * The variance is computed relative to the whole part of the mean, so that the subtraction
	 * is exact.
	 */
	whole = moments->sum / moments->count;
	part = (double)(moments->sum % moments->count) / n;
	around = moments->squares - 2 * whole * moments->sum +
		 whole * whole * moments->count;
	return (double)around / n - part * part;
}

/* Return the rank of a percentile. Ranks start at 1; the result is 0 if there are no values. */
static u64 rank_of(const struct histogram *histogram, u32 permille)
{
	return (permille * histogram->count + 999) / 1000;
}

/*
 * Return the cell that holds the value with this rank. The search starts at `cell`; the cells
 * before it hold `seen` values.
 */
static u32 cell_of_rank(const struct histogram *histogram, u64 rank, u32 cell,
			u64 *seen)
{
	while (*seen + histogram->cell[cell] < rank)
		*seen += histogram->cell[cell++];
	return cell;
}

void histogram_take(struct histogram *histogram, const struct histogram *part)
{
	u32 i;

	histogram->count -= part->count;
	for (i = 0; i < CELLS; i++)
		histogram->cell[i] -= part->cell[i];
}

u64 histogram_permille(const struct histogram *histogram, u32 permille)
{
	u64 rank = rank_of(histogram, permille);
	u64 seen = 0;

	return cell_start(cell_of_rank(histogram, rank, 0, &seen));
}

void histogram_distribution(const struct histogram *histogram, u64 value[1000])
{
	u64 seen = 0;
	u32 cell = 0;
	u32 i;

	for (i = 0; i < 1000; i++) {
		cell = cell_of_rank(histogram, rank_of(histogram, i + 1), cell, &seen);
		value[i] = cell_start(cell);
	}
}
