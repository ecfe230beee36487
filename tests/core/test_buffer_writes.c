// SPDX-License-Identifier: MIT
/*
 * Writes in the buffer: accepted, joined, destaged, and written through; times
 * calculated by hand.
 */
#include "round_drive.h"

static void writes_through(void)
{
	set_writing(0, 0);
	drive.writes.settle_ns = 500 * US;
	writes(1000, 8, FAR + 500 * US + 8 * SECTOR);
	reads(1000, 8, MISS(FAR, 8), false); /* they are not kept */
	writes(1004, 1, FAR + 500 * US + SECTOR);
	reads(1000, 4, MISS(FAR, 4), false); /* and drop what was read */
}

/*
 * An idle drive accepts one write at once; the next write waits until the first is on
 * the medium.
 */
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

/* Destaging begins as soon as a write arrives. */
static void destaged_while_they_come(void)
{
	set_writing(1, 100);
	drive.writes.order = WRITE_AS_THEY_COME;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(5000, 8, FAR + 8 * SECTOR - WRITE - 8 * BUS);
}

/*
 * The second write shares the first one's span but is destaged separately; the third
 * waits for both.
 */
static void in_sequence_each_has_its_turn(void)
{
	set_writing(1, 100);
	drive.writes.order = WRITE_AS_THEY_COME;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(1008, 8, WRITE + 8 * BUS);
	writes(1016, 8, FAR + 8 * SECTOR + NEAR + 8 * SECTOR - 2 * (WRITE + 8 * BUS));
}

/*
 * A write joins the one being destaged until the medium begins, if there is room;
 * otherwise the first is destaged alone.
 */
static void joined_until_it_begins(u64 late_ns, u64 sectors_max, u64 want_end)
{
	set_writing(1, sectors_max);
	writes(1000, 8, WRITE + 8 * BUS);
	now += FAR + late_ns;
	writes(1008, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive.writes.under_way.end, want_end);
}

static void what_waits_is_there(void)
{
	set_writing(2, 100);
	drive.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	reads(1002, 4, HIT + 4 * BUS, true);
	/* the part of it in the buffer must be destaged first */
	reads(996, 8, FAR + 8 * SECTOR + MISS(FAR, 8), false);
}

/* Destaging orders start from the last destaged write; reads do not move that position. */
static void order_from_the_last(u64 order, u64 want_last)
{
	set_writing(3, 100);
	drive.writes.order = order;
	drive.writes.idle_ns = 1000 * US;
	drive.writes.last = 46000;
	writes(50000, 1, WRITE + BUS);
	writes(10, 1, WRITE + BUS);
	writes(40000, 1, WRITE + BUS);
	drive_flush(&drive, now);
	CHECK_EQ(drive.writes.last, want_last);
}

static void a_rewrite_takes_no_room(void)
{
	set_writing(2, 100);
	drive.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(1002, 6, WRITE + 6 * BUS);
	CHECK_EQ(drive.writes.nr, 1);
	CHECK_EQ(drive.writes.sectors, 8);
}

/* A read that needs a buffered write waits for that write, whichever write is next in the order. */
static void only_what_a_read_needs_is_destaged(void)
{
	set_writing(3, 100);
	drive.writes.order = WRITE_ASCENDING;
	drive.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(50000, 8, WRITE + 8 * BUS);
	reads(49996, 8, FAR + 8 * SECTOR + MISS(FAR, 8), false);
	CHECK_EQ(drive.writes.nr, 1);
	CHECK_EQ(drive.writes.span[0].start, 1000);
}

/*
 * After the buffer was full, destaging continues down to the low mark, or resumes after
 * full_idle_ns of idle time.
 */
static void a_full_one_does_not_wait(u64 low_sectors, u64 full_idle_ns, u64 destages)
{
	set_writing(3, 100);
	drive.writes.order = WRITE_AS_THEY_COME;
	drive.writes.idle_ns = 50000 * US;
	drive.writes.full_idle_ns = full_idle_ns;
	drive.writes.low_sectors = low_sectors;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(30000, 8, WRITE + 8 * BUS);
	writes(50000, 8, WRITE + 8 * BUS);
	writes(70000, 8, FAR + 8 * SECTOR);
	reads(90000, 8, destages * (FAR + 8 * SECTOR) + MISS(FAR, 8), false);
	CHECK_EQ(drive.writes.nr, 3 - destages);
	now += 49000 * US;
	reads(20000, 8, MISS(FAR, 8), false);
	CHECK_EQ(drive.writes.nr, low_sectors / 8);
}

/*
 * When the arm arrives, the nearest write has just passed and comes again in 5 ms; a
 * farther write is sooner.
 */
static void the_soonest_goes_first(u64 order, u64 want_left)
{
	set_writing(3, 100);
	drive.arm.random_phase = 1;
	drive.writes.order = order;
	drive.writes.idle_ns = 1000 * US;
	now += drive_serve(&drive, IO_READ, 3000, 8, now, &(bool){ false });
	writes(60000, 8, WRITE + 8 * BUS);
	writes(3400, 8, WRITE + 8 * BUS);
	now += 1001 * US;
	drive_serve(&drive, IO_READ, 90000, 8, now, &(bool){ false });
	CHECK_EQ(drive.writes.span[0].start, want_left);
}

static void a_flush_puts_all_away(void)
{
	set_writing(3, 100);
	drive.writes.idle_ns = 50000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive_flush(&drive, now), 2 * (FAR + 8 * SECTOR));
	now += 2 * (FAR + 8 * SECTOR);
	CHECK_EQ(drive_flush(&drive, now), 0);
	reads(5000, 8, MISS(FAR, 8), false);
}

/* Destaging is spared the time of a seek of distance 0 (spared_ns); a command is not. */
static void what_is_put_away_needs_no_command(u64 spared_ns)
{
	set_writing(3, 100);
	SAMPLE(drive.disk.seek, 0).value = spared_ns;
	drive.writes.idle_ns = 50000 * US;
	now = 10000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive_flush(&drive, now), FAR + 8 * SECTOR - spared_ns);
	now += FAR + 8 * SECTOR;
	CHECK_EQ(drive_serve_through(&drive, 5000, 8, now), FAR + 8 * SECTOR);
}

/*
 * The arm is free after the idle time, the seek and the medium; the read arrives
 * before_ns before that.
 */
static void one_that_waits_has_been_understood(u64 before_ns, u64 want_less_ns)
{
	u64 free_ns = WRITE + 8 * BUS + 1000 * US + FAR - 300 * US + 8 * SECTOR;

	set_writing(3, 100);
	SAMPLE(drive.disk.seek, 0).value = 300 * US;
	drive.writes.idle_ns = 1000 * US;
	writes(1000, 8, WRITE + 8 * BUS);
	now = free_ns - before_ns;
	CHECK_EQ(estimate_ns(&drive, IO_READ, 90000, 8, now),
		 before_ns - want_less_ns + FAR);
	reads(90000, 8, before_ns - want_less_ns + MISS(FAR, 8), false);
}

int main(void)
{
	writes_through();
	one_is_taken_at_once();
	in_sequence_they_are_joined();
	destaged_while_they_come();
	in_sequence_each_has_its_turn();
	joined_until_it_begins(0, 16, 1016);
	joined_until_it_begins(0, 15, 0);
	joined_until_it_begins(1, 16, 0);
	what_waits_is_there();
	order_from_the_last(WRITE_ASCENDING, 50001);
	order_from_the_last(WRITE_ASCENDING_FROM_LAST, 40001);
	a_rewrite_takes_no_room();
	only_what_a_read_needs_is_destaged();
	a_full_one_does_not_wait(24, 0, 0);
	a_full_one_does_not_wait(8, 1, 0);
	a_full_one_does_not_wait(0, 1, 0);
	a_full_one_does_not_wait(0, 0, 1);
	the_soonest_goes_first(WRITE_ASCENDING, 60000);
	the_soonest_goes_first(WRITE_SHORTEST_POSITIONING, 3400);
	what_is_put_away_needs_no_command(0);
	what_is_put_away_needs_no_command(300 * US);
	one_that_waits_has_been_understood(5000 * US, 300 * US);
	one_that_waits_has_been_understood(100 * US, 100 * US);
	a_flush_puts_all_away();
	return 0;
}
