// SPDX-License-Identifier: MIT
/* Writes in the buffer: taken, joined, put away, and through it; times by hand. */
#include "../../core/drive/estimate.h"
#include "round_drive.h"

static void writes_through(void)
{
	set_writing(0, 0);
	drive.buffer.settle_ns = 500 * US;
	writes(1000, 8, FAR + 500 * US + 8 * SECTOR);
	reads(1000, 8, MISS(FAR, 8), false); /* they are not kept */
	writes(1004, 1, FAR + 500 * US + SECTOR);
	reads(1000, 4, MISS(FAR, 4), false); /* and drop what was read */
}

/* An idle drive takes one at once; the next one waits until it is on the medium. */
static void one_is_taken_at_once(void)
{
	set_writing(1, 100);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(5000, 8, FAR + 8 * SECTOR);
	now += 20000 * US;
	writes(7000, 8, WRITE + 8 * BUS);
	reads(9000, 8, FAR + 8 * SECTOR + MISS(FAR, 8), false);
}

static void in_sequence_they_are_joined(void)
{
	set_writing(1, 100);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(1008, 8, WRITE + 8 * BUS);
	/* begun 360 us ago */
	writes(5000, 8, FAR + 16 * SECTOR - WRITE - 8 * BUS);
}

/* What is under way is made longer until the medium begins with it, if there is room;
 * else it is put away before, and gone. */
static void joined_until_it_begins(u64 late_ns, u64 sectors_max, u64 want_end)
{
	set_writing(1, sectors_max);
	writes(1000, 8, WRITE + 8 * BUS);
	now += FAR + late_ns;
	writes(1008, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive.buffer.writes.under_way.end, want_end);
}

/* The read waits for what is under way, then finds it in the buffer. */
static void read_back(void)
{
	set_writing(1, 100);
	writes(1000, 8, WRITE + 8 * BUS);
	reads(1000, 8, FAR + 8 * SECTOR + HIT + 8 * BUS, true);
}

static void what_waits_is_there(void)
{
	set_writing(2, 100);
	drive.buffer.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	reads(1002, 4, HIT + 4 * BUS, true);
	/* a part of it has to be put away first */
	reads(996, 8, FAR + 8 * SECTOR + MISS(FAR, 8), false);
}

static void order_of_putting_away(u64 order, u64 want_head)
{
	set_writing(3, 100);
	drive.buffer.writes.order = order;
	drive.buffer.writes.idle_ns = 1000 * US;
	writes(50000, 1, WRITE + BUS);
	writes(10, 1, WRITE + BUS);
	writes(40000, 1, WRITE + BUS);
	now += drive_flush(&drive, now);
	reads(90000, 1, MISS(FAR, 1), false);
	CHECK_EQ(drive.buffer.segments.segment[2].start, want_head);
}

/* As long as there is something to do it is not idle, and puts nothing away. */
static void idleness_begins_anew(void)
{
	u32 i;

	set_writing(2, 100);
	drive.buffer.writes.idle_ns = 10000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	for (i = 0; i < 5; i++) {
		now += 9000 * US;
		reads(50000 + 1000 * i, 8, MISS(FAR, 8), false);
	}
	now += 12000 * US;
	reads(90000, 8, FAR + 8 * SECTOR - 2000 * US + MISS(FAR, 8), false);
}

/* Of three that wait one goes when there is no room, and then as many as are over the mark. */
static void putting_away_in_a_hurry(u64 low_sectors, u64 want_left)
{
	set_writing(3, 100);
	drive.buffer.writes.idle_ns = 500000 * US;
	drive.buffer.writes.low_sectors = low_sectors;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	writes(5000, 8, WRITE + 8 * BUS);
	writes(7000, 8, FAR + 8 * SECTOR);
	now += 400000 * US;
	reads(90000, 8, MISS(FAR, 8), false);
	CHECK_EQ(drive.buffer.writes.sectors, want_left);
}

/* The nearest one has gone by when the arm is there, and comes in 5 ms: farther is sooner. */
static void the_soonest_goes_first(u64 order, u64 want_left)
{
	set_writing(3, 100);
	drive.random_phase = 1;
	drive.buffer.writes.order = order;
	drive.buffer.writes.idle_ns = 1000 * US;
	now += drive_serve(&drive, IO_READ, 3000, 8, now, &(bool){ false });
	writes(60000, 8, WRITE + 8 * BUS);
	writes(3400, 8, WRITE + 8 * BUS);
	now += 1001 * US;
	drive_serve(&drive, IO_READ, 90000, 8, now, &(bool){ false });
	CHECK_EQ(drive.buffer.writes.span[0].start, want_left);
}

static void a_flush_puts_all_away(void)
{
	set_writing(3, 100);
	drive.buffer.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive_flush(&drive, now), 2 * (FAR + 8 * SECTOR));
	now += 2 * (FAR + 8 * SECTOR);
	CHECK_EQ(drive_flush(&drive, now), 0);
	reads(5000, 8, MISS(FAR, 8), false);
}

/* Of the way, at most the 1 ms that one of no distance takes; a command is spared nothing. */
static void what_is_put_away_needs_no_command(u64 spared_ns, u64 want_less_ns)
{
	set_writing(3, 100);
	drive.buffer.command_ns = spared_ns;
	drive.buffer.writes.idle_ns = 50000 * US;
	now = 10000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive_flush(&drive, now), FAR + 8 * SECTOR - want_less_ns);
	now += FAR + 8 * SECTOR;
	CHECK_EQ(drive_serve_through(&drive, 5000, 8, now), FAR + 8 * SECTOR);
}

/* The arm is free after idleness, the way and the medium; the read comes some time before. */
static void one_that_waits_has_been_understood(u64 before_ns, u64 want_less_ns)
{
	u64 free_ns = WRITE + 8 * BUS + 1000 * US + FAR - 300 * US + 8 * SECTOR;

	set_writing(3, 100);
	drive.buffer.command_ns = 300 * US;
	drive.buffer.writes.idle_ns = 1000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	now = free_ns - before_ns;
	CHECK_EQ(estimate_ns(&drive, IO_READ, 90000, 8, now),
		 before_ns - want_less_ns + FAR);
	reads(90000, 8, before_ns - want_less_ns + MISS(FAR, 8), false);
}

#define LESS (WRITE - 150 * US)

/* If that was the last request's; a track has 50 sectors. */
static void on_the_same_track_it_costs_less(void)
{
	set_writing(9, 100);
	drive.buffer.writes.idle_ns = 60000000 * US;
	drive.buffer.same_track_saves_ns = 150 * US;
	writes(49, 2, WRITE + 2 * BUS); /* it ends on the second track */
	writes(99, 1, LESS + 1 * BUS);
	writes(50, 8, LESS + 8 * BUS);
	writes(49, 1, WRITE + 1 * BUS);
	reads(50, 8, HIT + 8 * BUS, true);
	writes(70, 8, WRITE + 8 * BUS);
	drive_flush(&drive, now);
	now += 60000 * US;
	writes(80, 8, WRITE + 8 * BUS);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 90, 8, now), LESS + 8 * BUS);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 100, 8, now), WRITE + 8 * BUS);
	drive.disk.tracks.nr_zones = 0;
	writes(80, 8, WRITE + 8 * BUS);
	drive.disk.tracks.nr_zones = 1;
	drive_reset(&drive);
	writes(80, 8, WRITE + 8 * BUS);
}

/* Not after a read or a flush; after a write through it is the track where that ended. */
static void whatever_the_last_request_was(void)
{
	set_writing(9, 100);
	drive.buffer.same_track_saves_ns = 150 * US;
	reads(1000, 8, MISS(FAR, 8), false);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 10, 8, now), WRITE + 8 * BUS);
	now += drive_flush(&drive, now);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 10, 8, now), WRITE + 8 * BUS);
	now += drive_serve_through(&drive, 1000, 8, now);
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, 1010, 8, now), LESS + 8 * BUS);
}

/* In 64 bits the sector before the first one is on a track that ends at 100 too. */
static void before_the_first_write_there_is_no_track(void)
{
	set_writing(9, 100);
	drive.buffer.same_track_saves_ns = 150 * US;
	drive.disk.tracks = ZONES({ .sectors = 10 }, { .first = 100, .sectors = 128 });
	writes(90, 8, WRITE + 8 * BUS);
}

/* Its data are there sooner as well: here the medium waits for them. */
static void through_on_the_same_track(void)
{
	set_writing(0, 0);
	drive.buffer.write_ns = drive.buffer.same_track_saves_ns = 50000 * US;
	CHECK_EQ(drive_check(&drive), 0);
	writes(1000, 8, 50000 * US + 8 * BUS + 8 * SECTOR);
	writes(1010, 8, FAR + 8 * SECTOR);
}

static void through_means_through(void)
{
	set_writing(3, 100);
	CHECK_EQ(drive_serve_through(&drive, 1000, 8, now), FAR + 8 * SECTOR);
	CHECK_EQ(drive_flush(&drive, now + FAR + 8 * SECTOR), 0);
}

int main(void)
{
	writes_through();
	one_is_taken_at_once();
	in_sequence_they_are_joined();
	joined_until_it_begins(0, 16, 1016);
	joined_until_it_begins(0, 15, 0);
	joined_until_it_begins(1, 16, 0);
	read_back();
	what_waits_is_there();
	order_of_putting_away(WRITE_IN_ORDER, 40000);
	order_of_putting_away(WRITE_NEAREST, 50000);
	order_of_putting_away(WRITE_ASCENDING, 50000);
	idleness_begins_anew();
	putting_away_in_a_hurry(100, 24);
	putting_away_in_a_hurry(8, 8);
	putting_away_in_a_hurry(0, 0);
	the_soonest_goes_first(WRITE_NEAREST, 60000);
	the_soonest_goes_first(WRITE_SHORTEST_POSITIONING, 3400);
	what_is_put_away_needs_no_command(0, 0);
	what_is_put_away_needs_no_command(300 * US, 300 * US);
	what_is_put_away_needs_no_command(5000 * US, 1000 * US);
	one_that_waits_has_been_understood(5000 * US, 300 * US);
	one_that_waits_has_been_understood(100 * US, 100 * US);
	a_flush_puts_all_away();
	through_means_through();
	on_the_same_track_it_costs_less();
	whatever_the_last_request_was();
	before_the_first_write_there_is_no_track();
	through_on_the_same_track();
	return 0;
}
