// SPDX-License-Identifier: MIT
/* Reading on, times by hand: at its edges, where a ns or a sector less is something else. */
#include "../../core/drive/estimate.h"
#include "round_drive.h"

/* At the moment when the medium is done with a read nothing of what follows has come. */
static void nothing_is_read_on_in_no_time(void)
{
	set_reading(4, 60);
	drive.buffer.bus_ps = 0;
	drive.disk.transfer.nr_points = 0;
	CHECK_EQ(drive_check(&drive), 0);
	reads(1000, 8, FAR, false);
	reads(1008, 8, HIT, false);
}

/*
 * 8 come while the bus is busy, 84 more in the pause: up to 1100.  In the 260 us of the hit
 * 26 would, and those from 1108 on overwrite what is on the bus.  So the head waits there until
 * that is done, and then 3 ms for 1108 to 1116.
 */
static void the_next_in_sequence_is_kept_while_it_is_on_the_bus(void)
{
	set_reading(4, 100);
	drive.buffer.ahead_overwrites = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 84 * SECTOR;
	reads(1008, 8, HIT + 8 * BUS, true);
	reads(1016, 100, 3000 * US + 8 * BUS, false);
}

/* The segment ends where its track does, at 1050; the arm goes back to read on over that. */
static void the_arm_returns_over_a_track_end(void)
{
	set_reading(4, 50);
	drive.buffer.hits_return = drive.buffer.ahead_to_track_end = 1;
	reads(1042, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1042, 8, HIT + 8 * BUS, true);
	now += 20000 * US;
	reads(1050, 8, HIT + 8 * BUS, true);
}

/*
 * A read is over the bus 80 us after the medium is done, with the ninth sector under the head:
 * it takes 10 us to pass, 7 us of which are left 3 us later.  Nothing waits for it at the limit.
 */
static void the_sector_that_passes_is_finished(u64 limit, u64 think_ns, u64 left_ns)
{
	set_reading(4, limit);
	drive.buffer.ahead_finishes_sector = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += think_ns;
	reads(5000, 8, left_ns + MISS(FAR, 8), false);
	reads(1016, 1, limit > 8 ? HIT + BUS : MISS(FAR, 1), limit > 8);
}

/* A command is understood after that, and not meanwhile. */
static void before_a_command_is_understood(void)
{
	set_reading(4, 60);
	drive.buffer.ahead_finishes_sector = 1;
	drive.buffer.command_ns = 500 * US;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, SECTOR + MISS(FAR, 8), false);
}

/* Finished is, too, one that the arm has to switch heads for: 20 us, 300 us, 10 us. */
static void so_is_the_next_tracks_first(void)
{
	set_reading(4, 50);
	drive.buffer.ahead_finishes_sector = 1;
	drive.disk.switch_ns = 300 * US;
	reads(1040, 8, MISS(FAR, 8), false);
	reads(5000, 8, 250 * US + MISS(FAR, 8), false);
	reads(1050, 1, HIT + BUS, true);
}

/* 7 us are left of it as a hit elsewhere sends the arm there, for 3 ms. */
static void the_arm_returns_when_it_is_finished(void)
{
	set_reading(4, 50);
	drive.buffer.ahead_finishes_sector = drive.buffer.hits_return = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, SECTOR + MISS(FAR, 8), false);
	now += 3 * US;
	reads(1008, 8, HIT + 8 * BUS, true);
	reads(70000, 8, 7 * US + 3000 * US - HIT - 8 * BUS + MISS(FAR, 8), false);
}

/* A write is complete at 300 us and the sector at 330 us: it is on its way then, not before. */
static void a_write_waits_for_it_on_its_way(void)
{
	set_writing(1, 100);
	drive.buffer.ahead_sectors = 50;
	drive.buffer.ahead_finishes_sector = 1;
	drive.disk.switch_ns = 300 * US;
	reads(1040, 8, MISS(FAR, 8), false);
	writes(5000, 1, WRITE + BUS);
	now += 40 * US;
	reads(70000, 8, FAR + SECTOR - 10 * US + MISS(FAR, 8), false);
}

/* 1000 to 1016 are there when that read is over the bus, up to 1058 will be 420 us later. */
static void set_filling(void)
{
	set_writing(1, 100);
	drive.buffer.ahead_sectors = 50;
	drive.buffer.write_waits = 1;
	reads(1000, 8, MISS(FAR, 8), false);
}

static bool is_held(u64 sector)
{
	bool hit;

	drive_serve(&drive, IO_READ, sector, 1, now, &hit);
	return hit;
}

/* Also the first and the last sector that are there; what has not come yet is no reason to wait. */
static void a_write_waits_for_what_it_lands_in(u64 sector, u32 sectors, u64 left_ns)
{
	u64 ns = left_ns + WRITE + sectors * BUS;

	set_filling();
	CHECK_EQ(estimate_ns(&drive, IO_WRITE, sector, sectors, now), ns);
	writes(sector, sectors, ns);
	CHECK_EQ(is_held(1057), left_ns > 0);
}

/* One that goes through, of a single sector, likewise. */
static void what_goes_through_is_foreseen_to_wait(u64 sector, bool waits)
{
	u64 ns;

	set_filling();
	drive.buffer.write_waits = 0;
	ns = estimate_through_ns(&drive, sector, now);
	drive.buffer.write_waits = 1;
	CHECK_EQ(estimate_through_ns(&drive, sector, now) > ns, waits);
}

static void nothing_is_left_to_wait_for(void)
{
	set_filling();
	now += 420 * US;
	writes(1000, 1, WRITE + BUS);
	reads(1050, 8, HIT + 8 * BUS, true);
}

/* What lies behind it stays, what lies before it goes; itself is a write's for a while. */
static void of_what_it_lands_in_the_rest_stays(void)
{
	set_filling();
	writes(1010, 4, 420 * US + WRITE + 4 * BUS);
	CHECK(is_held(1014));
	CHECK(is_held(1010));
	CHECK(!is_held(1009));

	/* Up to the end and over it: nothing stays. */
	set_filling();
	writes(1010, 49, 420 * US + WRITE + 49 * BUS);
	CHECK(!is_held(1005));
}

/* What was sent and given back is not held, and nothing else has come yet. */
static void what_was_given_back_is_no_reason(void)
{
	set_writing(1, 100);
	drive.buffer.ahead_sectors = 50;
	drive.buffer.write_waits = drive.buffer.discards = 1;
	drive.buffer.bus_ps = 0;
	reads(1000, 8, FAR + 8 * SECTOR, false);
	writes(1007, 2, WRITE);
}

/* Another segment that holds the same is out of date. */
static void what_it_does_not_land_in_is_dropped(void)
{
	set_filling();
	now += 420 * US;
	CHECK(!is_held(970));
	now += 20000 * US;
	CHECK(is_held(1010));
	writes(1010, 1, WRITE + BUS);
	CHECK(is_held(1020));
	CHECK(!is_held(1050));
}

static u64 through_ns(u64 pause_ns)
{
	set_filling();
	now += pause_ns;
	return drive_serve_through(&drive, 1000, 1, now);
}

static void a_write_through_waits_as_well(void)
{
	CHECK_EQ(through_ns(0), 420 * US + through_ns(420 * US));
	CHECK_EQ(through_ns(419 * US), US + through_ns(420 * US));
}

int main(void)
{
	nothing_is_read_on_in_no_time();
	the_next_in_sequence_is_kept_while_it_is_on_the_bus();
	the_arm_returns_over_a_track_end();
	the_sector_that_passes_is_finished(60, 3 * US, 7 * US);
	the_sector_that_passes_is_finished(60, 0, SECTOR);
	the_sector_that_passes_is_finished(8, 3 * US, 0);
	before_a_command_is_understood();
	so_is_the_next_tracks_first();
	the_arm_returns_when_it_is_finished();
	a_write_waits_for_it_on_its_way();
	a_write_waits_for_what_it_lands_in(1000, 1, 420 * US);
	a_write_waits_for_what_it_lands_in(996, 5, 420 * US);
	a_write_waits_for_what_it_lands_in(1015, 9, 420 * US);
	a_write_waits_for_what_it_lands_in(996, 4, 0);
	a_write_waits_for_what_it_lands_in(1016, 9, 0);
	what_goes_through_is_foreseen_to_wait(999, false);
	what_goes_through_is_foreseen_to_wait(1000, true);
	what_goes_through_is_foreseen_to_wait(1015, true);
	what_goes_through_is_foreseen_to_wait(1016, false);
	nothing_is_left_to_wait_for();
	of_what_it_lands_in_the_rest_stays();
	what_was_given_back_is_no_reason();
	what_it_does_not_land_in_is_dropped();
	a_write_through_waits_as_well();
	return 0;
}
