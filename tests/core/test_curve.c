// SPDX-License-Identifier: MIT
/* Curves: values at, between and beyond the samples, jumps, and refused curves. */
#include "../../core/drive/curve.h"
#include "check.h"

static struct curve curve;

static void set(u32 nr_points, const struct curve_point *point)
{
	curve = (struct curve){ nr_points, point };
}

static void rounded_down_on_the_way_up_and_down(void)
{
	const struct curve_point point[] = { { 0, 10 }, { 3, 20 }, { 6, 10 } };

	set(3, point);
	CHECK_EQ(curve_check(&curve, 6, 20), 0);
	CHECK_EQ(curve_value(&curve, 0), 10);
	CHECK_EQ(curve_value(&curve, 1), 13);
	CHECK_EQ(curve_value(&curve, 2), 16);
	CHECK_EQ(curve_value(&curve, 3), 20);
	CHECK_EQ(curve_value(&curve, 4), 16);
	CHECK_EQ(curve_value(&curve, 5), 13);
	CHECK_EQ(curve_value(&curve, 6), 10);
	CHECK_EQ(curve_max(&curve), 20);
}

static void flat_beyond_the_end(void)
{
	const struct curve_point point[] = { { 0, 9 }, { 10, 4 } };

	set(2, point);
	CHECK_EQ(curve_value(&curve, 11), 4);
	CHECK_EQ(curve_value(&curve, U64_MAX), 4);
}

static void jumps(void)
{
	const struct curve_point point[] = {
		{ 0, 5 }, { 499, 5 }, { 500, 8 }, { 900, 8 }
	};

	set(4, point);
	CHECK_EQ(curve_check(&curve, 900, 8), 0);
	CHECK_EQ(curve_value(&curve, 250), 5);
	CHECK_EQ(curve_value(&curve, 499), 5);
	CHECK_EQ(curve_value(&curve, 500), 8);
	CHECK_EQ(curve_value(&curve, 899), 8);
}

/* Products and sums must not overflow 64 bits. */
static void largest_numbers(void)
{
	const struct curve_point up[] = { { 0, 0 }, { U64_MAX, U64_MAX } };
	const struct curve_point down[] = { { 0, U64_MAX }, { U64_MAX, 0 } };

	set(2, up);
	CHECK_EQ(curve_check(&curve, U64_MAX, U64_MAX), 0);
	CHECK(curve_value(&curve, U64_MAX - 1) == U64_MAX - 1);
	set(2, down);
	CHECK(curve_value(&curve, 1) == U64_MAX - 1);
}

static void refused(void)
{
	const struct curve_point good[] = { { 0, 1 }, { 5, 2 }, { 10, 1 } };
	const struct curve_point late[] = { { 1, 1 }, { 10, 2 } };
	const struct curve_point twice[] = { { 0, 1 }, { 5, 1 }, { 5, 2 }, { 10, 2 } };
	const struct curve_point back[] = { { 0, 1 }, { 6, 1 }, { 5, 2 }, { 10, 2 } };

	set(3, good);
	CHECK_EQ(curve_check(&curve, 10, 2), 0);
	CHECK_EQ(curve_check(&curve, 9, 2), -EINVAL);
	CHECK_EQ(curve_check(&curve, 11, 2), -EINVAL);
	CHECK_EQ(curve_check(&curve, 10, 1), -EINVAL);
	set(1, good);
	CHECK_EQ(curve_check(&curve, 0, 2), -EINVAL);
	curve.nr_points = 0;
	CHECK_EQ(curve_check(&curve, 10, 2), -EINVAL);
	CHECK_EQ(curve_max(&curve), 0);
	curve.nr_points = CURVE_POINTS_MAX + 1;
	CHECK_EQ(curve_check(&curve, 10, 2), -EINVAL);
	set(2, late);
	CHECK_EQ(curve_check(&curve, 10, 2), -EINVAL);
	set(4, twice);
	CHECK_EQ(curve_check(&curve, 10, 2), -EINVAL);
	set(4, back);
	CHECK_EQ(curve_check(&curve, 10, 2), -EINVAL);
}

static void random_points(struct draw *draw)
{
	static struct curve_point point[CURVE_POINTS_MAX];
	u32 i;

	set(2 + draw_below(draw, CURVE_POINTS_MAX - 1), point);
	point[0] = (struct curve_point){ 0, draw_below(draw, 1000000) };
	for (i = 1; i < curve.nr_points; i++) {
		point[i].at = point[i - 1].at + 1 + draw_below(draw, 1u << 20);
		point[i].value = draw_below(draw, 1000000);
	}
}

/* The value is exact at a sample, and between the neighbouring samples' values elsewhere. */
static void between_the_neighbours(struct draw *draw)
{
	const struct curve_point *point;
	u64 at, value;
	u32 i;

	random_points(draw);
	point = curve.point;
	CHECK_EQ(curve_check(&curve, point[curve.nr_points - 1].at, 1000000), 0);
	for (i = 0; i + 1 < curve.nr_points; i++) {
		at = point[i].at + draw_below(draw, point[i + 1].at - point[i].at);
		value = curve_value(&curve, at);
		CHECK_EQ(curve_value(&curve, point[i].at), point[i].value);
		CHECK(value >= point[i].value || value >= point[i + 1].value);
		CHECK(value <= point[i].value || value <= point[i + 1].value);
	}
}

int main(void)
{
	rounded_down_on_the_way_up_and_down();
	flat_beyond_the_end();
	jumps();
	largest_numbers();
	refused();
	check_seeds(200, between_the_neighbours);
	return 0;
}
