// SPDX-License-Identifier: MIT
/*
 * Command queueing: which waiting command a free drive takes.  It is compared with a
 * naive implementation of the rule and checked by hand on a drive with round times.
 */
#include "../../core/drive/command_queue.h"
#include "check.h"
#include "laid_out.h"

#define MS 1000000ull
#define CAPACITY 100000
#define WAITING 40

static struct drive drive;
static struct command_queue queue;
static struct command command[WAITING];

/* Seeks take 1 ms to 10 ms over the disk; a hit takes 0.1 ms. */
static void set(u64 depth, u64 age_ns)
{
	drive = (struct drive){ .bus.hit_ns = MS / 10,
				.queue_depth = depth,
				.queue_age_ns = age_ns };
	linear(&drive.disk, CAPACITY, MS, 10 * MS);
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
	command_queue_give(&queue, &drive, &command[i]);
	return &command[i];
}

static void takes(u64 now_ns, const struct command *wanted)
{
	CHECK(command_queue_take(&queue, &drive, now_ns) == wanted);
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

/* The rule as documented, by index and without a list. */
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

/* The sieve passes every command whose sectors the buffer holds. */
static void the_sieve_loses_nothing(const bool *waits, u32 count, u64 now_ns)
{
	struct drive_outlook look = drive_look(&drive, now_ns);
	struct sieve held = plan_sieve(&drive);
	u32 i;

	for (i = 0; i < count; i++) {
		u64 ns;

		if (!waits[i])
			continue;
		look.sieve = NULL;
		ns = plan_first_ns(&drive, &look, &command[i], U64_MAX);
		look.sieve = &held;
		CHECK_EQ(plan_first_ns(&drive, &look, &command[i], U64_MAX), ns);
	}
}

/* Half of the sectors are at a few positions from `few` on, so that the cache may hold them. */
static u64 few;

static u64 any_sector(struct draw *draw)
{
	return draw_below(draw, 2) ? draw_below(draw, CAPACITY - 8)
				   : few + 8 * draw_below(draw, 60);
}

/* Give and take commands in random order, and compare each choice with the naive one. */
static void goes_by_the_rule(struct draw *draw)
{
	bool waits[WAITING] = { false };
	u32 given = 0, taken = 0;
	u64 now_ns = 0;

	few = draw_below(draw, 1000);
	while (taken < WAITING) {
		if (given < WAITING && (given == taken || draw_below(draw, 3))) {
			give(given, any_sector(draw), now_ns);
			command[given].op = draw_below(draw, 2);
			waits[given++] = true;
		} else {
			u32 next = naive(waits, given, now_ns);
			bool hit;

			the_sieve_loses_nothing(waits, given, now_ns);
			takes(now_ns, &command[next]);
			waits[next] = false;
			taken++;
			now_ns += drive_serve(&drive, command[next].op,
					      command[next].sector, 8, now_ns, &hit);
		}
	}
}

static void as_it_is_written_down(struct draw *draw)
{
	set(1 + draw_below(draw, 10), draw_below(draw, 60) * MS);
	goes_by_the_rule(draw);
}

/* Tracks have 100 sectors, a rotation takes 4.2 ms, and each half of the disk has its own angle. */
static void set_turning(u64 depth)
{
	set(depth, 60000 * MS);
	drive.disk.rotation_ns = 1 << 22;
	drive.disk.tracks = ZONES({ .sectors = 100,
				    .slot = 1ull << 57,
				    .skew = 1ull << 60,
				    .cylinder = { 4, 400, 0 } },
				  { .first = CAPACITY / 2,
				    .sectors = 100,
				    .slot = 1ull << 57,
				    .angle = 1ull << 62,
				    .cylinder = { 4, 400, 1ull << 61 } });
	drive.disk.tracks.velocity = 1ull << 42;
}

/*
 * A command that cannot be sooner than the best one is skipped, which must not change
 * the choice.
 */
static void as_it_is_written_down_where_platters_turn(struct draw *draw)
{
	set_turning(1 + draw_below(draw, 40));
	if (!draw_below(draw, 4))
		drive.disk.tracks.velocity = 0; /* angles are not known */
	drive.buffered = draw_below(draw, 4) > 0;
	drive.bus.sector_ps = 1000000;
	drive.ahead.sectors = draw_below(draw, 500);
	drive.ahead.reach_sectors = draw_below(draw, 100);
	drive.ahead.segments =
		(struct segments){ .nr = draw_below(draw, 20), .sectors = 500 };
	drive.writes = (struct write_back){ .spans_max = draw_below(draw, 8),
					    .sectors_max = 64,
					    .settle_ns = draw_below(draw, MS),
					    .idle_ns = draw_below(draw, 2 * MS),
					    .order = draw_below(draw, 3) };
	if (!drive.ahead.segments.nr)
		drive.ahead.sectors = drive.ahead.segments.sectors = 0;
	if (!drive.writes.spans_max)
		drive.writes.sectors_max = 0;
	CHECK_EQ(drive_check(&drive), 0);
	goes_by_the_rule(draw);
}

/*
 * With the zone's angle moved by half a rotation, sector 90 comes before sector 10; with angle 0,
 * after it.
 */
static void another_disk_has_them_elsewhere(void)
{
	set_turning(8);
	drive.disk.intercept_ns = 0;
	drive.disk.seek = CURVE({ 0, 0 }, { CAPACITY, 0 });
	CHECK_EQ(drive_check(&drive), 0);
	give(0, 10, 0);
	give(1, 90, 0);
	ZONE(drive.disk, 0).angle = 1ull << 63;
	command_queue_aim(&queue, &drive);
	takes((1 << 22) * 3 / 4, &command[1]);
	takes((1 << 22) * 3 / 4, &command[0]);
	give(0, 10, 0);
	give(1, 90, 0);
	ZONE(drive.disk, 0).angle = 0;
	command_queue_aim(&queue, &drive);
	takes((1 << 22) * 3 / 4, &command[0]);
}

/* A command that is neither read nor write may name a sector beyond the disk's end. */
static void what_has_no_place_is_not_looked_for(void)
{
	struct command nowhere = { .op = IO_OPS, .sector = 2 * CAPACITY };

	set_turning(8);
	plan_aim(&drive, &nowhere);
	CHECK_EQ(nowhere.place, 0);
	CHECK_EQ(nowhere.angle, 0);
}

int main(void)
{
	one_that_is_taken_back_is_gone(0);
	one_that_is_taken_back_is_gone(1);
	one_that_is_taken_back_is_gone(2);
	another_disk_has_them_elsewhere();
	what_has_no_place_is_not_looked_for();
	check_seeds(500, as_it_is_written_down);
	check_seeds(500, as_it_is_written_down_where_platters_turn);
	return 0;
}
