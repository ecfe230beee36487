// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The generator is SplitMix64 (Steele, Lea and Flood, 2014): a counter and a bijective mixer.
 * Logarithms and powers of two have 32 binary places (Q32) and are computed with multiplications in
 * Q62. So a random number has a relative error of about 2^-32 before it is rounded down.
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
	u64 surplus = (0 - n) % n; /* 2^64 mod n: number of values to reject */
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

/*
 * Return log2 of x in Q32; x is at least 1. The mantissa of x is squared repeatedly, and each
 * square is compared with two. The comparison needs no branch: its outcomes are equally likely, so
 * a branch would often be mispredicted.
 */
static u64 log2_q32(u64 x)
{
	u32 whole = 63 - __builtin_clzll(x);
	u64 mantissa = whole == 63 ? x >> 1 : x << (62 - whole);
	u64 result = whole;
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

/* Return 2^fraction in Q62 by the power series of exp; fraction is below one, in Q32. */
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

/* Return floor(scale * 2^exponent), or U64_MAX if the result might not fit; exponent is in Q32. */
static u64 scale_exp2(u64 scale, u64 exponent)
{
	u64 whole = exponent >> 32;

	if (!scale)
		return 0;
	if (whole >= (u64)__builtin_clzll(scale))
		return U64_MAX;
	return port_mul_div(scale, exp2_q62((u32)exponent), ONE_Q62 >> whole);
}

/* Return -log2 of a uniform random number from (0, 1], in Q32. */
static u64 draw_minus_log2(struct draw *draw)
{
	u64 below_one = draw_u64(draw);

	return below_one == U64_MAX ? 0 : (64ull << 32) - log2_q32(below_one + 1);
}

u64 draw_pareto(struct draw *draw, u32 alpha_milli, u64 scale)
{
	return scale_exp2(scale, draw_minus_log2(draw) * 1000 / alpha_milli);
}

u64 draw_exponential(struct draw *draw, u64 mean)
{
	u64 ln_q32 = mul_q62(draw_minus_log2(draw), LN2_Q62);

	return port_mul_div(mean, ln_q32, 1ull << 32);
}

/*
 * Return ln x by the series of 2 artanh((x - 1) / (x + 1)). x is at least 1 and below 2; x and the
 * result are in Q62. Each term is at most a ninth of the previous term. This function is three
 * times as fast as log2_q32(). log2_q32() is kept because results recorded with a seed depend on
 * its last bit.
 */
static u64 ln_q62(u64 x)
{
	u64 z = port_mul_div(x - ONE_Q62, ONE_Q62, x + ONE_Q62);
	u64 square = mul_q62(z, z);
	u64 sum = 0;
	u32 i;

	for (i = 12; i--;)
		sum = mul_q62(sum, square) + ONE_Q62 / (2 * i + 1);
	return 2 * mul_q62(z, sum);
}

/*
 * Return -ln of the product of `factors` uniform random numbers from (0, 1], in Q32. This needs
 * only one logarithm.
 */
static u64 draw_minus_ln(struct draw *draw, u32 factors)
{
	u64 product = ONE_Q62;
	u64 halvings = 0;

	for (; factors; factors--) {
		u64 below_one = draw_u64(draw);
		u64 normal, passes;
		u32 shift;

		if (below_one == U64_MAX)
			continue;
		shift = __builtin_clzll(below_one + 1);
		normal = (below_one + 1) << shift >> 1;
		product = mul_q62(product, normal);
		passes = product >> 63;
		product >>= passes;
		halvings += 1 + shift - passes;
	}
	return port_mul_div(halvings, LN2_Q62, 1 << 30) - (ln_q62(product) >> 30);
}

u64 draw_erlang(struct draw *draw, u32 stages, u64 mean)
{
	return port_mul_div(mean, draw_minus_ln(draw, stages), 1ull << 32);
}

u32 draw_zipf(struct draw *draw, u32 n)
{
	u64 u_q63 = (draw_u64(draw) >> 1) + 1;
	u64 exponent = port_mul_div(u_q63, log2_q32((u64)n + 1), 1ull << 63);
	u64 rank = scale_exp2(1, exponent) - 1;

	return rank < n ? rank : n - 1;
}
