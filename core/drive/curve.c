// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "curve.h"
#include "search.h"

int curve_check(const struct curve *curve, u64 end, u64 max)
{
	const struct curve_point *point = curve->point;
	u32 i;

	if (curve->nr_points < 2 || curve->nr_points > CURVE_POINTS_MAX)
		return -EINVAL;
	if (point[0].at != 0 || point[curve->nr_points - 1].at != end)
		return -EINVAL;
	for (i = 1; i < curve->nr_points; i++) {
		if (point[i].at <= point[i - 1].at)
			return -EINVAL;
	}
	return curve_max(curve) <= max ? 0 : -EINVAL;
}

/*
 * Compute the result from the lower of the two values upwards, so that it is rounded down even
 * where the curve falls.
 */
static u64 between(const struct curve_point *a, const struct curve_point *b, u64 at)
{
	u64 length = b->at - a->at;

	if (a->value <= b->value)
		return a->value + port_mul_div(b->value - a->value, at - a->at, length);
	return b->value + port_mul_div(a->value - b->value, b->at - at, length);
}

u64 curve_value(const struct curve *curve, u64 at)
{
	const struct curve_point *low = curve->point;
	u32 intervals = curve->nr_points - 1;

	if (at >= low[intervals].at)
		return low[intervals].value;
	low = search_last(low, intervals, sizeof(*low), at);
	return between(low, low + 1, at);
}

u64 curve_max(const struct curve *curve)
{
	u64 largest = 0;
	u32 i;

	for (i = 0; i < curve->nr_points; i++) {
		if (curve->point[i].value > largest)
			largest = curve->point[i].value;
	}
	return largest;
}
