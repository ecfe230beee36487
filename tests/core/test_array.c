// SPDX-License-Identifier: MIT
/*
 * An array's service times against its random draws; test_device.c tests its servers.
 */
#include "../../core/drive/array.h"
#include "check.h"

#define MS 1000000ull

static void a_constant_takes_no_draw(void)
{
	struct array array = { .servers = 8, .mean_service_ns = 3 * MS };
	struct draw draw, untouched;

	array_seed(&draw, 7);
	untouched = draw;
	CHECK_EQ(array_service_ns(&array, &draw), 3 * MS);
	CHECK_EQ(draw.state, untouched.state);
	CHECK_EQ(array_slowest_ns(&array), 3 * MS);
}

/*
 * Service times have the right mean, come from a stream that no process uses, and stay
 * below the bound.
 */
static void exponential_ones_are_drawn(void)
{
	struct array array = { .mean_service_ns = 3 * MS, .exponential = 1 };
	struct draw draw, same, process;
	u64 drawn_ns, others = 0;
	u32 i;

	array_seed(&draw, 7);
	array_seed(&same, 7);
	draw_seed(&process, 7, 0);
	for (i = 0; i < 1000; i++) {
		drawn_ns = array_service_ns(&array, &draw);
		CHECK_EQ(drawn_ns, draw_exponential(&same, 3 * MS));
		CHECK(drawn_ns <= array_slowest_ns(&array));
		others += drawn_ns != draw_exponential(&process, 3 * MS);
	}
	CHECK(others > 990);
}

/* The longest draw is 44.4 times the mean (core/draw.h). */
static void the_bound_is_that_of_the_draw(void)
{
	struct array array = { .mean_service_ns = 1000 * MS, .exponential = 1 };

	CHECK_EQ(array_slowest_ns(&array), 45 * 1000 * MS);
	array.exponential = 0;
	CHECK_EQ(array_slowest_ns(&array), 1000 * MS);
}

int main(void)
{
	a_constant_takes_no_draw();
	exponential_ones_are_drawn();
	the_bound_is_that_of_the_draw();
	return 0;
}
