// SPDX-License-Identifier: MIT
/*
 * The random numbers of SURGE against the equations of PERFORM 2010 section 5, written out again
 * with the papers' parameters.  Each draw is compared with its uniform number, and samples with
 * their distributions (Kolmogorov-Smirnov).
 */
#include <math.h>

#include "../../core/surge.h"
#include "check.h"

#define MANY 200000
#define FILES 1000000

/* (alpha_1, k_1) and (alpha_2, k_2); sleeps are in ms. */
static const double files_alpha = 2.43, files_k = 1.00;
static const double sleep_alpha = 1.5, sleep_k_ms = 2.0;

/* Return the uniform value in (0, 1] that the next draw will use. */
static double next_uniform(const struct draw *draw)
{
	struct draw peek = *draw;

	return ldexp((double)draw_u64(&peek) + 1, -64);
}

/* Eq. 1 solved for x, where P(X > x) is (k / x)^alpha. */
static double pareto(double alpha, double k, double u)
{
	return k * pow(u, -1 / alpha);
}

static double sleep_cdf(double ns)
{
	return 1 - pow(sleep_k_ms / (ns / 1e6), sleep_alpha);
}

/* Counts are whole numbers: n is drawn if the draw of Eq. 1 is below n + 1. */
static double file_count_cdf(double n)
{
	return 1 - pow(files_k / (n + 1), files_alpha);
}

/* The distribution of Eq. 3 in its continuous form: (n + 1)^U - 1. */
static double file_cdf(double index)
{
	return log(index + 2) / log(FILES + 1.0);
}

/* Check the whole part, unless the draw is so near to a whole number that rounding decides. */
static void expect_whole(u64 got, double want, double exact)
{
	if (fabs(want - round(want)) > exact * want)
		CHECK_EQ(got, (u64)want);
}

static void draw_by_draw(struct draw *draw)
{
	u32 i;

	for (i = 0; i < MANY; i++) {
		double u = next_uniform(draw);
		u64 ns = surge_sleep_ns(draw);

		CHECK(fabs((double)ns / 1e6 / pareto(sleep_alpha, sleep_k_ms, u) - 1) <
		      1e-6);
		u = next_uniform(draw);
		expect_whole(surge_file_count(draw), pareto(files_alpha, files_k, u),
			     1e-3);
		u = next_uniform(draw);
		expect_whole(surge_file(draw, FILES), pow(FILES + 1.0, u) - 1, 1e-6);
	}
}

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a;
	u64 y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 sample[MANY];

/*
 * Check that the Kolmogorov-Smirnov distance is below 2 / sqrt(n); one correct sample in 1,500
 * exceeds it.  Of equal values, the last one counts.
 */
static void check_distribution(double (*cdf)(double x))
{
	u32 i;

	qsort(sample, MANY, sizeof(*sample), ascending);
	for (i = 0; i < MANY; i++) {
		if (i + 1 < MANY && sample[i] == sample[i + 1])
			continue;
		CHECK(fabs(cdf((double)sample[i]) - (i + 1.0) / MANY) < 2 / sqrt(MANY));
	}
}

static void as_distributions(struct draw *draw)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		sample[i] = surge_sleep_ns(draw);
	check_distribution(sleep_cdf);
	for (i = 0; i < MANY; i++)
		sample[i] = surge_file_count(draw);
	check_distribution(file_count_cdf);
	for (i = 0; i < MANY; i++)
		sample[i] = surge_file(draw, FILES);
	check_distribution(file_cdf);
}

int main(void)
{
	check_seeds(2, draw_by_draw);
	check_seeds(2, as_distributions);
	return 0;
}
