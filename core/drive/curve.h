/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A function given by samples, linear between adjacent samples. Values need not ascend; the values
 * of measured curves do not.
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
 * struct curve - a curve
 * @nr_points: number of samples
 * @point: the samples, in order of their arguments
 */
struct curve {
	u32 nr_points;
	const struct curve_point *point;
};

/*
 * Returns 0 if there are at least two samples, the first at 0 and the last at the end, no two of
 * them at the same argument, and no value above max. Otherwise returns -EINVAL.
 */
int curve_check(const struct curve *curve, u64 end, u64 max);

/* The value at an argument, rounded down; beyond the end, the value of the last sample. */
u64 curve_value(const struct curve *curve, u64 at);

/* The largest value of a sample; 0 if there are no samples. */
u64 curve_max(const struct curve *curve);

#endif
