// SPDX-License-Identifier: MIT
/* Random draws against libm, value by value and as distributions. */
#include <math.h>

#include "../../core/draw.h"
#include "check.h"

#define MANY 100000

/* Return the uniform value in (0, 1] that the next draw will use. */
static double next_uniform(const struct draw *draw)
{
	struct draw peek = *draw;

	return ldexp((double)draw_u64(&peek) + 1.0, -64);
}

/* Check SplitMix64's published first values, and some of our own. */
static void golden(void)
{
	struct draw draw = { .state = 0 };

	CHECK(draw_u64(&draw) == 0xe220a8397b1dcdafull);
	CHECK(draw_u64(&draw) == 0x6e789e6aa1b965f4ull);
	CHECK(draw_u64(&draw) == 0x06c45d188009454full);

	draw_seed(&draw, 1, 0);
	CHECK_EQ(draw_u64(&draw), 0x6ec85f1f8547bc0cull);
	CHECK_EQ(draw_below(&draw, 1000), 90);
	CHECK_EQ(draw_pareto(&draw, 1500, 2000000), 3017254);
	CHECK_EQ(draw_zipf(&draw, 10000), 1856);
	draw_seed(&draw, 1, 1);
	CHECK_EQ(draw_u64(&draw), 0xbd17853175c4f325ull);
}

static void pareto_value(struct draw *draw)
{
	u32 alpha_milli = 300 + draw_below(draw, 4000);
	double u = next_uniform(draw);
	double want = 1e12 * pow(u, -1000.0 / alpha_milli);
	u64 got = draw_pareto(draw, alpha_milli, 1000000000000ull);

	if (want < ldexp(1, 63))
		CHECK(fabs((double)got - want) <= 2e-9 * want + 1);
	else
		CHECK(got >= 1ull << 62);
}

static void exponential_value(struct draw *draw)
{
	u64 mean = draw_below(draw, 1ull << 50);
	double u = next_uniform(draw);
	double want = -log(u) * mean;
	u64 got = draw_exponential(draw, mean);

	CHECK(fabs((double)got - want) <= 1e-9 * mean + 1);
}

/* An Erlang draw is the sum of its stages, which use consecutive uniform draws. */
static void erlang_value(struct draw *draw)
{
	u32 stages = draw_below(draw, 40);
	u64 mean = draw_below(draw, 1ull << 50);
	struct draw peek = *draw;
	double want = 0;
	u64 got = draw_erlang(draw, stages, mean);
	u32 i;

	for (i = 0; i < stages; i++) {
		want -= log(next_uniform(&peek)) * mean;
		draw_u64(&peek);
	}
	CHECK(fabs((double)got - want) <= 1e-9 * mean + 1);
	CHECK(draw->state == peek.state);
}

static void zipf_value(struct draw *draw)
{
	u32 n = 1 + draw_below(draw, 5000000);
	double u = next_uniform(draw);
	double want = pow(n + 1.0, u) - 1;
	u32 got = draw_zipf(draw, n);

	CHECK(got < n);
	CHECK(got <= want + 1e-3 && (got + 1 >= want - 1e-3 || got == n - 1));
}

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a;
	u64 y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/*
 * Check that the Kolmogorov-Smirnov distance is below 2 / sqrt(n); one correct sample
 * in 1,500 exceeds it.
 */
static void check_distribution(u64 *sample, double (*cdf)(double x))
{
	double worst = 0;
	u32 i;

	qsort(sample, MANY, sizeof(*sample), ascending);
	for (i = 0; i < MANY; i++) {
		double f = cdf((double)sample[i]);

		worst = fmax(worst, fabs(f - (double)i / MANY));
		worst = fmax(worst, fabs(f - (double)(i + 1) / MANY));
	}
	CHECK(worst < 2 / sqrt(MANY));
}

static double uniform_cdf(double x)
{
	return x / 1e9;
}

/* The sleeps in the papers: Pareto(1.5, 2 ms). */
static double sleep_cdf(double x)
{
	return 1 - pow(2e6 / x, 1.5);
}

static u64 sample[MANY];

static void distributions(struct draw *draw)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		sample[i] = draw_below(draw, 1000000000);
	check_distribution(sample, uniform_cdf);
	for (i = 0; i < MANY; i++) {
		sample[i] = draw_pareto(draw, 1500, 2000000);
		CHECK(sample[i] >= 2000000);
	}
	check_distribution(sample, sleep_cdf);
}

/* P(rank < k) is log(k + 1) / log(n + 1). */
static void zipf_distribution(struct draw *draw)
{
	static const u32 rank[] = { 1, 2, 10, 100, 1000, 9999 };
	u32 below[ARRAY_SIZE(rank)] = { 0 };
	u32 i, k;

	for (i = 0; i < MANY; i++) {
		u32 got = draw_zipf(draw, 10000);

		for (k = 0; k < ARRAY_SIZE(rank); k++)
			below[k] += got < rank[k];
	}
	for (k = 0; k < ARRAY_SIZE(rank); k++)
		CHECK(fabs((double)below[k] / MANY - log(rank[k] + 1.0) / log(10001)) <
		      2 / sqrt(MANY));
}

/* The file counts in the papers: Pareto(2.43, 1.00), whole numbers from 1. */
static void file_counts(struct draw *draw)
{
	u32 ones = 0;
	u32 i;

	for (i = 0; i < MANY; i++) {
		u64 files = draw_pareto(draw, 2430, 1);

		CHECK(files >= 1);
		ones += files == 1;
	}
	CHECK(fabs((double)ones / MANY - (1 - pow(2, -2.43))) < 2 / sqrt(MANY));
}

/*
 * The range is 3/4 of all values; with a plain modulo, every other draw would be in the
 * lowest third.
 */
static void no_bias(struct draw *draw)
{
	u32 low = 0;
	u32 i;

	for (i = 0; i < MANY; i++)
		low += draw_below(draw, 3ull << 62) < 1ull << 62;
	CHECK(fabs((double)low / MANY - 1.0 / 3) < 2 / sqrt(MANY));
}

/* Invert SplitMix64: return the stream whose next value is this one. */
static struct draw before(u64 value)
{
	u64 x = value;

	x ^= x >> 31 ^ x >> 62;
	x *= 0x319642b2d24d8ec3ull; /* times 0x94d049bb133111eb it is 1 */
	x ^= x >> 27 ^ x >> 54;
	x *= 0x96de1b173f119089ull; /* times 0xbf58476d1ce4e5b9 it is 1 */
	x ^= x >> 30 ^ x >> 60;
	return (struct draw){ .state = x - 0x9e3779b97f4a7c15ull };
}

/* The range is three quarters of all values, so values in the lowest quarter are redrawn. */
static void the_first_that_is_not_drawn_again(void)
{
	u64 quarter = 1ull << 62;
	struct draw draw = before(quarter);
	struct draw after = draw;

	CHECK(draw_u64(&after) == quarter);
	CHECK_EQ(draw_below(&draw, 3 * quarter), quarter);
	CHECK(draw.state == after.state);

	draw = after = before(quarter - 1);
	draw_u64(&after);
	draw_below(&draw, 3 * quarter);
	CHECK(draw.state != after.state);
}

/* The uniform draw's extremes: 1, whose logarithm is 0, and 2^-64. */
static void ends_of_the_draw(void)
{
	struct draw one = before(U64_MAX), least = before(0);
	struct draw draw = one;

	CHECK_EQ(draw_exponential(&draw, 1000000), 0);
	draw = one;
	CHECK_EQ(draw_pareto(&draw, 1500, 1000), 1000);
	draw = one;
	CHECK_EQ(draw_zipf(&draw, 1000), 999);
	draw = least;
	CHECK_EQ(draw_exponential(&draw, 1000000), 44361419); /* 64 ln 2 */
	draw = one;
	CHECK_EQ(draw_erlang(&draw, 1, 1000000), 0);
	draw = least;
	CHECK(fabs(draw_erlang(&draw, 1, (1ull << 57) - 1) / 6.3931543226013278e18 -
		   1) < 1e-9);
	draw = least;
	CHECK_EQ(draw_pareto(&draw, 4000, 1), 65536); /* 2^16 */
	draw = least;
	CHECK_EQ(draw_pareto(&draw, 1000, 1), U64_MAX); /* 2^64 */
	draw = least;
	CHECK_EQ(draw_zipf(&draw, 1000), 0);
}

/* Each number has its own stream, and no parameter overflows. */
static void edges(void)
{
	struct draw a, b;
	u32 i;

	draw_seed(&a, 7, 1);
	draw_seed(&b, 7, 2);
	CHECK(a.state != b.state);
	draw_seed(&b, 8, 1);
	CHECK(a.state != b.state);
	for (i = 0; i < 10000; i++) {
		CHECK(draw_pareto(&a, 1, 1) >= 1);
		CHECK(draw_pareto(&a, 1, U64_MAX) == U64_MAX);
		CHECK(draw_pareto(&a, 1000, 0) == 0);
		CHECK(draw_pareto(&a, U32_MAX, 1000) == 1000);
		CHECK(draw_zipf(&a, 1) == 0);
		CHECK(draw_zipf(&a, U32_MAX) < U32_MAX);
		CHECK(draw_below(&a, 1) == 0);
		CHECK(draw_below(&a, U64_MAX) < U64_MAX);
	}
}

int main(void)
{
	golden();
	check_seeds(20000, pareto_value);
	check_seeds(20000, exponential_value);
	check_seeds(20000, erlang_value);
	check_seeds(20000, zipf_value);
	check_seeds(3, distributions);
	check_seeds(3, zipf_distribution);
	check_seeds(3, file_counts);
	check_seeds(3, no_bias);
	the_first_that_is_not_drawn_again();
	ends_of_the_draw();
	edges();
	return 0;
}
