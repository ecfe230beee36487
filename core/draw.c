// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The generator is SplitMix64 (Steele, Lea and Flood, 2014): a counter and a
 * bijective mixer.  Logarithms and powers of two are in fixed point with 32
 * binary places (Q32), made of multiplications in Q62, so a draw is off by about
 * 2^-32 of its value before it is rounded down.
 */
#include "draw.h"

#define SPLITMIX_STEP 0x9e3779b97f4a7c15ull
#define ONE_Q62 (1ull << 62)
#define LN2_Q62 0x2c5c85fdf473de6bull

static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void draw_seed(struct draw *draw, u64 seed, u64 stream)
{
	draw->state = mix(mix(seed + SPLITMIX_STEP) + stream);
}

u64 draw_u64(struct draw *draw)
{
	draw->state += SPLITMIX_STEP;
	return mix(draw->state);
}

u64 draw_below(struct draw *draw, u64 n)
{
	u64 surplus = (0 - n) % n; /* 2^64 mod n: values that would make 0 likelier */
	u64 value;

	do {
		value = draw_u64(draw);
	} while (value < surplus);
	return value % n;
}

static u64 mul_q62(u64 a, u64 b)
{
	return port_mul_div(a, b, ONE_Q62);
}

/* A whole number from 1 as mantissa * 2^exponent: the mantissa, Q62, from 1 to below 2. */
static u64 mantissa_of(u64 x, u32 *exponent)
{
	*exponent = 63 - __builtin_clzll(x);
	return *exponent == 63 ? x >> 1 : x << (62 - *exponent);
}

/*
 * log2 of a mantissa, Q32: square, and see whether it passes two.  Without a branch: it
 * would go either way as often.
 */
static u64 log2_of_mantissa_q32(u64 mantissa)
{
	u64 result = 0;
	u32 i;

	for (i = 0; i < 32; i++) {
		u32 passes;

		mantissa = mul_q62(mantissa, mantissa);
		passes = mantissa >> 63;
		mantissa >>= passes;
		result = result << 1 | passes;
	}
	return result;
}

/* log2 of a whole number from 1, Q32. */
static u64 log2_q32(u64 x)
{
	u32 exponent;
	u64 mantissa = mantissa_of(x, &exponent);

	return (u64)exponent << 32 | log2_of_mantissa_q32(mantissa);
}

/* 2 to the power of a Q32 fraction below one, Q62: the series of exp. */
static u64 exp2_q62(u32 fraction)
{
	u64 x = port_mul_div(LN2_Q62, fraction, 1ull << 32);
	u64 term = ONE_Q62;
	u64 sum = ONE_Q62;
	u32 i;

	for (i = 1; term; i++) {
		term = mul_q62(term, x) / i;
		sum += term;
	}
	return sum;
}

/* floor of scale * 2^exponent, exponent in Q32; U64_MAX if it may not fit. */
static u64 scale_exp2(u64 scale, u64 exponent)
{
	u64 whole = exponent >> 32;

	if (!scale)
		return 0;
	if (whole >= (u64)__builtin_clzll(scale))
		return U64_MAX;
	return port_mul_div(scale, exp2_q62((u32)exponent), ONE_Q62 >> whole);
}

/* -log2 of the product of so many uniform draws from (0, 1], Q32: one logarithm for all. */
static u64 draw_minus_log2(struct draw *draw, u32 factors)
{
	u64 product = ONE_Q62;
	u64 halvings = 0;

	for (; factors; factors--) {
		u64 below_one = draw_u64(draw);
		u32 exponent, passes;

		if (below_one == U64_MAX)
			continue;
		product = mul_q62(product, mantissa_of(below_one + 1, &exponent));
		passes = product >> 63;
		product >>= passes;
		halvings += 64 - exponent - passes;
	}
	return (halvings << 32) - log2_of_mantissa_q32(product);
}

u64 draw_pareto(struct draw *draw, u32 alpha_milli, u64 scale)
{
	return scale_exp2(scale, draw_minus_log2(draw, 1) * 1000 / alpha_milli);
}

u64 draw_exponential(struct draw *draw, u64 mean)
{
	return draw_erlang(draw, 1, mean);
}

u64 draw_erlang(struct draw *draw, u32 stages, u64 mean)
{
	u64 ln_q32 = mul_q62(draw_minus_log2(draw, stages), LN2_Q62);

	return port_mul_div(mean, ln_q32, 1ull << 32);
}

u32 draw_zipf(struct draw *draw, u32 n)
{
	u64 u_q63 = (draw_u64(draw) >> 1) + 1;
	u64 exponent = port_mul_div(u_q63, log2_q32((u64)n + 1), 1ull << 63);
	u64 rank = scale_exp2(1, exponent) - 1;

	return rank < n ? rank : n - 1;
}
