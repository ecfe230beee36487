/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random numbers in integer arithmetic: with the same seed, processes in a guest and the simulator
 * on any host get the same numbers. (The pow() and log() of a libc can differ between processors.)
 */
#ifndef UNDERSTUDY_DRAW_H
#define UNDERSTUDY_DRAW_H

#include "port.h"

/* One stream of random numbers. */
struct draw {
	u64 state;
};

/*
 * Start a stream of random numbers. Different streams of one seed are independent of one another.
 */
void draw_seed(struct draw *draw, u64 seed, u64 stream);

/* Return a uniform random 64-bit number. */
u64 draw_u64(struct draw *draw);

/* Return a uniform random number from 0 to n - 1; n is at least 1. */
u64 draw_below(struct draw *draw, u64 n);

/*
 * Return a Pareto(alpha, scale) random number (PERFORM 2010 Eq. 1): floor(scale * U^(-1/alpha)), in
 * the unit of scale. alpha_milli is alpha in thousandths (1500 is 1.5), at least 1. The result is
 * at least scale. The result is U64_MAX if the value might not fit, which can happen only if the
 * value is at least 2^63.
 */
u64 draw_pareto(struct draw *draw, u32 alpha_milli, u64 scale);

/*
 * Return an exponential random number: floor(-ln(U) * mean), in the unit of mean. mean is below
 * 2^57. The result is at most 44.4 times the mean.
 */
u64 draw_exponential(struct draw *draw, u64 mean);

/*
 * Return an Erlang random number: the sum of `stages` exponential random numbers with this mean,
 * rounded down, in the unit of mean. stages * mean is below 2^57, and stages is below 2^20. The
 * result is at most 44.4 times stages * mean; with 0 stages it is 0.
 */
u64 draw_erlang(struct draw *draw, u32 stages, u64 mean);

/*
 * Return a Zipf random number from 0 to n - 1 by the papers' continuous approximation (PERFORM 2010
 * Eq. 3): floor((n + 1)^U) - 1; n is at least 1.
 */
u32 draw_zipf(struct draw *draw, u32 n);

#endif
