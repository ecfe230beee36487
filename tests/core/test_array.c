// SPDX-License-Identifier: MIT
/*
 * An array's servers against a naive telling of the rule, which looks at all of them for each
 * request, and its service times against the draws they are made of.
 */
#include <string.h>

#include "../../core/drive/array.h"
#include "check.h"

#define MS 1000000ull
#define SERVERS_MAX 40

/* Of all servers the one that is free first takes it; two alike are alike. */
static u32 first_free(const u64 *free_ns, u32 nr)
{
	u32 first = 0, i;

	for (i = 1; i < nr; i++)
		if (free_ns[i] < free_ns[first])
			first = i;
	return first;
}

static void requests_begin_in_turn(struct draw *draw)
{
	u64 memory[SERVERS_MAX], naive[SERVERS_MAX] = { 0 };
	u32 nr = 1 + draw_below(draw, SERVERS_MAX);
	u64 longest = 1 + draw_below(draw, 2 * nr);
	struct servers servers;
	u64 now_ns = 0;
	u32 i;

	memset(memory, 0xff, sizeof(memory));
	servers_reset(&servers, memory, nr);
	for (i = 0; i < 300; i++) {
		u32 server = first_free(naive, nr);
		u64 start_ns;

		now_ns += draw_below(draw, 3);
		start_ns = naive[server] > now_ns ? naive[server] : now_ns;
		CHECK_EQ(servers_start_ns(&servers, now_ns), start_ns);
		naive[server] = start_ns + draw_below(draw, longest);
		servers_occupy(&servers, naive[server]);
	}
}

static void after_a_reset_all_are_free(void)
{
	u64 memory[2];
	struct servers servers;

	servers_reset(&servers, memory, 2);
	servers_occupy(&servers, 5 * MS);
	CHECK_EQ(servers_start_ns(&servers, 3), 3);
	servers_occupy(&servers, 7 * MS);
	CHECK_EQ(servers_start_ns(&servers, 3), 5 * MS);
	servers_reset(&servers, memory, 2);
	CHECK_EQ(servers_start_ns(&servers, 3), 3);
}

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

/* Draws of the mean, in a stream that belongs to no process, and none above the bound. */
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

/* 44.4 means are the longest draw (core/draw.h). */
static void the_bound_is_that_of_the_draw(void)
{
	struct array array = { .mean_service_ns = 1000 * MS, .exponential = 1 };

	CHECK_EQ(array_slowest_ns(&array), 45 * 1000 * MS);
	array.exponential = 0;
	CHECK_EQ(array_slowest_ns(&array), 1000 * MS);
}

int main(void)
{
	check_seeds(500, requests_begin_in_turn);
	after_a_reset_all_are_free();
	a_constant_takes_no_draw();
	exponential_ones_are_drawn();
	the_bound_is_that_of_the_draw();
	return 0;
}
