/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A function known by samples, linear between two of them. Values need not ascend; those of
 * measured curves do not.
 *
 * Places are whole numbers, so a curve can also jump: from one value at n - 1 to another at n. A
 * function that is constant in pieces takes two samples for each piece.
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
 * struct curve - samples, in order of their places
 * @nr_points: how many
 * @point: the samples
 */
struct curve {
	u32 nr_points;
	const struct curve_point *point;
};

/*
 * 0, or -EINVAL unless there are at least two samples, the first at 0 and the last at the end, each
 * at a place of its own, and none above max.
 */
int curve_check(const struct curve *curve, u64 end, u64 max);

/* The value at a place, rounded down; beyond the end, the value of the last sample. */
u64 curve_value(const struct curve *curve, u64 at);

/* The largest sample; 0 if there is none. */
u64 curve_max(const struct curve *curve);

#endif
