// SPDX-License-Identifier: MIT
/*
 * Service times of a chain of phases: its transitions, the sum of its stages, and a chain that
 * would never end. tests/native/test_service_times.py checks the distributions.
 */
#include "../../sim/service_times.h"
#include "check.h"

#define TICK (1ull << SERVICE_TICK_BITS)

static struct service_phase phase[3];
static struct service_outcome outcome[4];
static u32 start[2];
static const struct service_times times = {
	.phases = 3,
	.outcomes = 4,
	.start = start,
	.phase = phase,
	.outcome = outcome,
};

/*
 * From phase 0 a time goes on to phase 1, or with probability 3/4 to phase 2; both phases end it.
 */
static void use(u64 mean_ns)
{
	start[0] = 0;
	start[1] = 2;
	phase[0] = (struct service_phase){ .outcomes = 2 };
	phase[1] = (struct service_phase){ mean_ns * TICK, 1, 2, 1, 0 };
	phase[2] = (struct service_phase){ mean_ns * TICK, 3, 3, 1, 0 };
	outcome[0] = (struct service_outcome){ (1ull << 62) - 1, 1, 0 };
	outcome[1] = (struct service_outcome){ U64_MAX, 2, 0 };
	outcome[2] = (struct service_outcome){ U64_MAX, 0, 1 };
	outcome[3] = (struct service_outcome){ U64_MAX, 0, 1 };
	CHECK(!service_times_check(&times, 2));
}

/* A time equals the sum of the same draws in the same order; half a ns is rounded up. */
static void each_time_is_its_stays(struct draw *draw)
{
	u64 seed = draw_u64(draw);
	struct service_chain chain;
	struct draw same;
	u32 at = 0, i;

	use(1 + draw_below(draw, 1000));
	draw_seed(&same, seed, 9);
	service_chain_begin(&chain, &times, 0, seed, 9);
	for (i = 0; i < 6000; i++) {
		u64 ticks;

		at = draw_u64(&same) < 1ull << 62 ? 1 : 2;
		ticks = draw_erlang(&same, phase[at].stages, phase[at].mean);
		CHECK_EQ(service_chain_draw(&chain, &times),
			 (ticks + TICK / 2) / TICK ?: 1);
	}
}

/* A transition is taken for draws up to and including its largest. */
static void a_way_is_taken_up_to_its_last_draw(void)
{
	struct service_chain chain;
	struct draw peek;
	u32 below;

	for (below = 0; below < 2; below++) {
		use(1000);
		draw_seed(&peek, 1, 0);
		outcome[0].last = draw_u64(&peek) - below;
		service_chain_begin(&chain, &times, 0, 1, 0);
		CHECK_EQ(service_chain_draw(&chain, &times),
			 (draw_erlang(&peek, below ? 3 : 1, 1000 * TICK) + TICK / 2) /
				 TICK);
	}
}

/* The class decides in which phase a time begins; a batch of draws equals single draws. */
static void a_class_begins_where_it_is_said(void)
{
	struct service_chain chain, again;
	u64 drawn[50];
	struct draw same;
	u32 i;

	use(1000);
	draw_seed(&same, 1, 1);
	service_chain_begin(&chain, &times, 1, 1, 1);
	again = chain;
	service_chain_draw_all(&again, &times, 50, drawn);
	for (i = 0; i < 50; i++)
		CHECK_EQ(service_chain_draw(&chain, &times), drawn[i]);
	CHECK_EQ(drawn[0], (draw_erlang(&same, 3, phase[2].mean) + TICK / 2) / TICK);
}

/* The chain loops without end, first in no time, then with very long stages. */
static void a_time_that_never_ends_ends(void)
{
	struct service_chain chain;

	use(1);
	outcome[2].ends = outcome[3].ends = 0;
	phase[1].stages = phase[2].stages = 0;
	service_chain_begin(&chain, &times, 0, 1, 0);
	CHECK_EQ(service_chain_draw(&chain, &times), 1);
	use(1);
	outcome[2].ends = outcome[3].ends = 0;
	phase[1].mean = phase[2].mean = (1ull << 55);
	service_chain_begin(&chain, &times, 0, 1, 0);
	CHECK_EQ(service_chain_draw(&chain, &times), 1ull << 46);
	CHECK_EQ(service_chain_draw(&chain, &times), 1ull << 46);
}

int main(void)
{
	check_seeds(50, each_time_is_its_stays);
	a_way_is_taken_up_to_its_last_draw();
	a_class_begins_where_it_is_said();
	a_time_that_never_ends_ends();
	return 0;
}
