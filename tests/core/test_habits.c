// SPDX-License-Identifier: MIT
/* The habits learnt for a process, and the order of a sweep that may step back. */
#include "../../core/habits.h"
#include "../../core/near.h"
#include "check.h"

#define MS 1000000ull
#define LONGEST (12 * MS)

static struct io_request read_at(u64 sector)
{
	return (struct io_request){ .sector = sector, .sectors = 8 };
}

/* End a read, think for thought_ns, and read again at this distance from the end. */
static void live(struct habits *habits, u64 thought_ns, u64 distance)
{
	struct io_request rq = read_at(1000);

	habits_think(habits, &rq, 5 * MS);
	rq = read_at(1008 + distance);
	habits_act(habits, &rq, 5 * MS + thought_ns, LONGEST);
}

static void means_are_of_the_last_few(void)
{
	struct habits habits = { .known = false };
	u32 i;

	live(&habits, 2 * MS, 100);
	CHECK_EQ(habits.think_ns, 2 * MS);
	CHECK_EQ(habits.distance, 100);
	live(&habits, 10 * MS, 900);
	CHECK_EQ(habits.think_ns, 3 * MS);
	CHECK_EQ(habits.distance, 200);
	for (i = 0; i < 60; i++)
		live(&habits, MS, 0);
	CHECK(habits.think_ns < MS + MS / 100);
	CHECK_EQ(habits.distance, 0);
}

/* The process thinks for an hour once, and reads at the other end of the disk once. */
static void outliers_are_cut(void)
{
	struct habits habits = { .known = false };

	live(&habits, 4 * MS, 80);
	live(&habits, 3600000 * MS, 1ull << 40);
	CHECK_EQ(habits.think_ns, 5 * MS);
	CHECK_EQ(habits.distance, (7 * 80 + 4 * 80 + 131072) / 8);
}

/* Backward distance counts like forward distance; a think time counts only after a completion. */
static void only_what_follows_an_end_counts(void)
{
	struct habits habits = { .known = false };
	struct io_request rq = read_at(1000);

	habits_act(&habits, &rq, 9 * MS, LONGEST);
	CHECK(!habits.known);
	habits_think(&habits, &rq, 10 * MS);
	rq = read_at(908);
	habits_act(&habits, &rq, 11 * MS, LONGEST);
	habits_act(&habits, &rq, 20 * MS, LONGEST);
	CHECK_EQ(habits.think_ns, MS);
	CHECK_EQ(habits.distance, 100);
}

static u64 rank_of(u64 sector)
{
	struct near_rule rule = { .back_max = 100, .back_penalty = 2 };
	struct io_request rq = read_at(sector);

	return near_rank(&rule, 1000, &rq);
}

static void ahead_then_short_steps_then_the_next_sweep(void)
{
	CHECK_EQ(rank_of(1000), 0);
	CHECK_EQ(rank_of(1010), 10);
	CHECK_EQ(rank_of(990), 20);
	CHECK_EQ(rank_of(900), 200);
	CHECK(rank_of(899) > rank_of((1ull << 63) - 1));
	CHECK(rank_of(0) < rank_of(899));
	CHECK(rank_of(0) >= NEAR_NEXT_SWEEP &&
	      rank_of((1ull << 63) - 1) < NEAR_NEXT_SWEEP);
}

int main(void)
{
	means_are_of_the_last_few();
	outliers_are_cut();
	only_what_follows_an_end_counts();
	ahead_then_short_steps_then_the_next_sweep();
	return 0;
}
