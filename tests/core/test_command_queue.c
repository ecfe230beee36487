// SPDX-License-Identifier: MIT
/*
 * Command queueing: which of those that wait a free drive takes, held against a naive
 * telling of the rule and, by hand, against a drive whose times are round.
 */
#include "../../core/command_queue.h"
#include "../../core/estimate.h"
#include "check.h"

#define MS 1000000ull
#define CAPACITY 100000
#define WAITING 40

static struct drive drive;
static struct command_queue queue;
static struct command command[WAITING];

/* 1 ms, and 10 ms over the whole disk; a hit takes 0.1 ms. */
static void set(u64 depth, u64 age_ns)
{
	drive = (struct drive){ .hit_ns = MS / 10,
				.queue_depth = depth,
				.queue_age_ns = age_ns };
	disk_set_linear(&drive.disk, CAPACITY, MS, 10 * MS);
	drive.cache.segments = 2;
	drive.cache.segment_sectors = 64;
	CHECK_EQ(drive_check(&drive), 0);
	drive_reset(&drive);
	queue = (struct command_queue){ 0 };
}

static struct command *give(u32 i, u64 sector, u64 given_ns)
{
	command[i] = (struct command){ .sector = sector,
				       .sectors = 8,
				       .given_ns = given_ns };
	command_queue_give(&queue, &command[i]);
	return &command[i];
}

static void takes(u64 now_ns, const struct command *wanted)
{
	CHECK(command_queue_take(&queue, &drive, now_ns) == wanted);
}

static void without_depth_the_oldest_goes_first(u64 depth)
{
	set(depth, 60000 * MS);
	give(0, 90000, 0);
	give(1, 10, 0);
	takes(1, &command[0]);
	takes(1, &command[1]);
	takes(1, NULL);
}

static void the_nearest_goes_first_of_two_alike_the_older(void)
{
	set(8, 60000 * MS);
	give(0, 90000, 0);
	give(1, 50, 0);
	give(2, 50, 1);
	give(3, 40000, 2);
	takes(3, &command[1]);
	takes(3, &command[2]);
	takes(3, &command[3]);
	takes(3, &command[0]);
	takes(3, NULL);
}

static void it_sees_as_many_as_its_depth(void)
{
	set(2, 60000 * MS);
	give(0, 90000, 0);
	give(1, 80000, 0);
	give(2, 0, 0);
	takes(1, &command[1]);
	takes(1, &command[2]);
}

static void who_has_waited_for_too_long_goes_first(void)
{
	set(8, 5 * MS);
	give(0, 90000, 1 * MS);
	give(1, 50, 2 * MS);
	give(2, 40, 3 * MS);
	takes(6 * MS - 1, &command[2]);
	takes(6 * MS, &command[0]);
	takes(6 * MS, &command[1]);
	set(8, 0);
	without_depth_the_oldest_goes_first(1);
}

static void an_age_limit_of_nothing_is_the_order_of_arrival(void)
{
	set(8, 0);
	give(0, 90000, 0);
	give(1, 10, 0);
	takes(0, &command[0]);
	takes(0, &command[1]);
}

static void a_hit_goes_first_and_what_has_no_place_before_it(void)
{
	bool hit;

	set(8, 60000 * MS);
	drive_serve(&drive, IO_READ, 70000, 8, 0, &hit);
	drive_serve(&drive, IO_READ, 10, 8, 0, &hit);
	give(0, 20, 0);
	give(1, 70000, 0);
	give(2, 0, 0)->op = IO_OPS;
	give(3, 70000, 0)->op = IO_WRITE;
	takes(MS, &command[2]);
	takes(MS, &command[1]);
	takes(MS, &command[0]);
	takes(MS, &command[3]);
}

static void one_that_is_taken_back_is_gone(u32 gone)
{
	u32 i;

	set(8, 60000 * MS);
	for (i = 0; i < 3; i++)
		give(i, 100 * i, 0);
	command_queue_remove(&queue, &command[gone]);
	for (i = 0; i < 3; i++) {
		if (i != gone)
			takes(1, &command[i]);
	}
	takes(1, NULL);
	give(gone, 5, 0);
	takes(1, &command[gone]);
}

/* It is the newest then, and nothing follows it any more. */
static void one_that_is_given_again_is_the_newest(void)
{
	set(8, 0);
	give(0, 10, 0);
	give(1, 20, 0);
	takes(0, &command[0]);
	command_queue_give(&queue, &command[0]);
	takes(0, &command[1]);
	takes(0, &command[0]);
	takes(0, NULL);
}

/* Nothing is sooner than what has no place, not even a hit that costs nothing. */
static void what_has_no_place_waits_for_nothing(void)
{
	bool hit;

	set(8, 60000 * MS);
	drive.hit_ns = 0;
	drive_serve(&drive, IO_READ, 10, 8, 0, &hit);
	give(0, 0, 0)->op = IO_OPS;
	give(1, 10, 0);
	takes(1, &command[0]);
}

static void give_write(u32 i, u64 sector, bool through)
{
	struct command *write = give(i, sector, 0);

	write->op = IO_WRITE;
	write->through = through;
}

/* The buffer takes any other write at once. */
static void one_that_goes_through_waits_for_its_place(void)
{
	set(8, 60000 * MS);
	drive.buffered = 1;
	drive.buffer.writes.spans_max = 4;
	drive.buffer.writes.sectors_max = 100;
	CHECK_EQ(drive_check(&drive), 0);
	give_write(0, 90000, true);
	give_write(1, 80000, true);
	give_write(2, 95000, false);
	takes(1, &command[2]);
	takes(1, &command[1]);
	takes(1, &command[0]);
}

/* The rule as it is written down: by index, without a list. */
static u32 naive(const bool *waits, u32 count, u64 now_ns)
{
	u64 best_ns = U64_MAX;
	u32 best = U32_MAX, seen = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		u64 ns;

		if (!waits[i])
			continue;
		if (!seen && now_ns - command[i].given_ns >= drive.queue_age_ns)
			return i;
		if (seen++ && seen > drive.queue_depth)
			break;
		ns = estimate_ns(&drive, command[i].op, command[i].sector,
				 command[i].sectors, now_ns);
		if (ns < best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	return best;
}

static void as_it_is_written_down(struct draw *draw)
{
	bool waits[WAITING] = { false };
	u32 given = 0, taken = 0;
	u64 now_ns = 0;

	set(1 + draw_below(draw, 10), draw_below(draw, 60) * MS);
	while (taken < WAITING) {
		if (given < WAITING && (given == taken || draw_below(draw, 3))) {
			give(given, draw_below(draw, CAPACITY - 8), now_ns);
			command[given].op = draw_below(draw, 2);
			waits[given++] = true;
		} else {
			u32 next = naive(waits, given, now_ns);
			bool hit;

			takes(now_ns, &command[next]);
			waits[next] = false;
			taken++;
			now_ns += drive_serve(&drive, command[next].op,
					      command[next].sector, 8, now_ns, &hit);
		}
	}
}

int main(void)
{
	without_depth_the_oldest_goes_first(0);
	without_depth_the_oldest_goes_first(1);
	the_nearest_goes_first_of_two_alike_the_older();
	it_sees_as_many_as_its_depth();
	who_has_waited_for_too_long_goes_first();
	an_age_limit_of_nothing_is_the_order_of_arrival();
	a_hit_goes_first_and_what_has_no_place_before_it();
	one_that_is_taken_back_is_gone(0);
	one_that_is_taken_back_is_gone(1);
	one_that_is_taken_back_is_gone(2);
	one_that_is_given_again_is_the_newest();
	what_has_no_place_waits_for_nothing();
	one_that_goes_through_waits_for_its_place();
	check_seeds(500, as_it_is_written_down);
	return 0;
}
