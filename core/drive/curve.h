/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A function given by samples, linear between adjacent samples. Values may descend, as those of
 * measured curves do.
 *
 * Arguments are whole numbers, so a curve can also jump: from one value at n - 1 to another at n. A
 * piecewise constant function needs two samples for each piece.
 *
 * The host owns the samples and keeps them in place as long as the curve is used.
 */
#ifndef UNDERSTUDY_CURVE_H
#define UNDERSTUDY_CURVE_H

#include "../port.h"

#define CURVE_POINTS_MAX 1024

/* One sample. */
struct curve_point {
	u64 at;
	u64 value;
};

/**
 * struct curve - a sampled function
 * @nr_points: number of samples
 * @point: the samples, in order of their arguments
 */
struct curve {
	u32 nr_points;
	const struct curve_point *point;
};

/*
 * Return 0 if there are at least two samples in ascending order, the first at 0 and the last at
 * `end`, and no value is above max. Otherwise return -EINVAL.
 */
int curve_check(const struct curve *curve, u64 end, u64 max);

/*
 * Return the value at an argument, rounded down; beyond the last sample, return the last sample's
 * value.
 */
u64 curve_value(const struct curve *curve, u64 at);

/* Return the largest value of a sample; 0 if there are no samples. */
u64 curve_max(const struct curve *curve);

#endif
