// SPDX-License-Identifier: MIT
/* Mean, variance and percentiles, against exact figures from all values. */
#include <math.h>

#include "../../sim/moments.h"
#include "check.h"

#define VALUES 500

static struct histogram histogram;
static u64 value[VALUES];
static u64 distribution[1000];

static int compare(const void *a, const void *b)
{
	const u64 *x = a;
	const u64 *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_close(double got, double want)
{
	return fabs(got - want) <= 1e-9 * fabs(want);
}

/* Return n^2 times the variance, exact for values below 2^48. */
static double exact_variance(u32 n, u64 offset)
{
	unsigned __int128 sum = 0;
	unsigned __int128 squares = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		u64 v = value[i] - offset;

		sum += v;
		squares += (unsigned __int128)v * v;
	}
	return (double)(squares * n - sum * sum) / n / n;
}

/* The histogram's percentile is equal to the exact one or slightly below it. */
static void check_permille(u32 n, u32 permille)
{
	u64 got = histogram_permille(&histogram, permille);
	u32 rank = (permille * n + 999) / 1000;
	u64 want = value[rank - 1];

	CHECK(got <= want);
	CHECK(want - got <= want / 256);
	if (want < 512)
		CHECK_EQ(got, want);
}

/*
 * Ranges go from a few ns to more than the clock can hold.  An offset of any size changes the mean
 * but not the variance.
 */
static void random_case(struct draw *draw)
{
	u64 below = 1ull << draw_below(draw, 49);
	u64 offset = draw_below(draw, 2) ? draw_u64(draw) >> 1 : 0;
	u32 n = 1 + draw_below(draw, VALUES);
	struct moments moments = { 0 };
	unsigned __int128 sum = 0;
	u32 i;

	memset(&histogram, 0, sizeof(histogram));
	for (i = 0; i < n; i++) {
		value[i] = offset + draw_below(draw, below);
		sum += value[i];
		moments_add(&moments, value[i]);
		histogram_add(&histogram, value[i]);
	}
	CHECK_EQ(moments.count, n);
	CHECK(is_close(moments_mean(&moments), (double)sum / n));
	CHECK(is_close(moments_variance(&moments), exact_variance(n, offset)));
	CHECK(moments_variance(&moments) >= 0);
	qsort(value, n, sizeof(*value), compare);
	histogram_distribution(&histogram, distribution);
	for (i = 1; i <= 1000; i++) {
		check_permille(n, i);
		CHECK_EQ(distribution[i - 1], histogram_permille(&histogram, i));
	}
	CHECK_EQ(histogram.max, value[n - 1]);
}

static void nothing_and_one_value(void)
{
	struct moments moments = { 0 };

	memset(&histogram, 0, sizeof(histogram));
	CHECK_EQ(moments_mean(&moments), 0);
	CHECK_EQ(moments_variance(&moments), 0);
	CHECK_EQ(histogram_permille(&histogram, 500), 0);
	histogram_distribution(&histogram, distribution);
	CHECK(!distribution[0] && !distribution[999]);
	moments_add(&moments, 12345);
	histogram_add(&histogram, 12345);
	CHECK_EQ(moments_mean(&moments), 12345);
	CHECK_EQ(moments_variance(&moments), 0);
	CHECK_EQ(histogram_permille(&histogram, 1), 12345 / 32 * 32);
	CHECK_EQ(histogram_permille(&histogram, 1000), 12345 / 32 * 32);
	CHECK_EQ(histogram.max, 12345);
}

/* Test each power of two, the values next to it, and the largest value. */
static void every_size(void)
{
	u32 bit;
	int step;

	for (bit = 0; bit < 64; bit++) {
		for (step = -1; step <= 1; step++) {
			u64 v = (1ull << bit) + step;
			u64 got;

			memset(&histogram, 0, sizeof(histogram));
			histogram_add(&histogram, v);
			got = histogram_permille(&histogram, 1000);
			CHECK(got <= v && v - got <= v / 256);
		}
	}
	memset(&histogram, 0, sizeof(histogram));
	histogram_add(&histogram, U64_MAX);
	CHECK_EQ(histogram.cell[CELLS - 1], 1);
}

int main(void)
{
	check_seeds(300, random_case);
	nothing_and_one_value();
	every_size();
	return 0;
}
