/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random numbers, computed in integers, so that processes in a guest and the simulator on any host
 * get the same numbers from the same seed. (The pow() and log() of a libc can differ between
 * processors.)
 */
#ifndef UNDERSTUDY_DRAW_H
#define UNDERSTUDY_DRAW_H

#include "port.h"

/* One stream of random numbers. */
struct draw {
	u64 state;
};

/* Streams of one seed are independent of one another. */
void draw_seed(struct draw *draw, u64 seed, u64 stream);

/* A uniform random number from all 64-bit values. */
u64 draw_u64(struct draw *draw);

/* A uniform random number from 0 .. n - 1; n is at least 1. */
u64 draw_below(struct draw *draw, u64 n);

/*
 * Pareto(alpha, scale), PERFORM 2010 Eq. 1: floor of scale * U^(-1/alpha), in the unit of scale.
 * alpha is in thousandths (1500 is 1.5), at least 1. The result is at least scale. It is U64_MAX if
 * the value might not fit, which can happen only if the value is at least 2^63.
 */
u64 draw_pareto(struct draw *draw, u32 alpha_milli, u64 scale);

/*
 * Exponential: floor of -ln(U) * mean, in the unit of mean, which is below 2^57. The result is at
 * most 44.4 times the mean.
 */
u64 draw_exponential(struct draw *draw, u64 mean);

/*
 * Erlang: the sum of `stages` exponential random numbers with this mean, rounded down, in the unit
 * of mean. stages times mean is below 2^57, stages below 2^20. The result is at most 44.4 times
 * that product; with 0 stages it is 0.
 */
u64 draw_erlang(struct draw *draw, u32 stages, u64 mean);

/*
 * Zipf over 0 .. n - 1 by the papers' continuous approximation, PERFORM 2010 Eq. 3:
 * floor of (n + 1)^U - 1; n is at least 1.
 */
u32 draw_zipf(struct draw *draw, u32 n);

#endif
