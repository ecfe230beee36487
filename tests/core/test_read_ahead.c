// SPDX-License-Identifier: MIT
/* Reading on, times by hand: at its edges, where a ns or a sector less is something else. */
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
	drive.buffer.after_hit = AFTER_HIT_RETURN;
	drive.buffer.ahead_to_track_end = 1;
	reads(1042, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1042, 8, HIT + 8 * BUS, true);
	now += 20000 * US;
	reads(1050, 8, HIT + 8 * BUS, true);
}

int main(void)
{
	nothing_is_read_on_in_no_time();
	the_next_in_sequence_is_kept_while_it_is_on_the_bus();
	the_arm_returns_over_a_track_end();
	return 0;
}
