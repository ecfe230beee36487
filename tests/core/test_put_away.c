// SPDX-License-Identifier: MIT
/* Writes that are put away, times by hand: at the edges of time and of room. */
#include "round_drive.h"

static void set_waiting(u64 spans, u64 sectors)
{
	set_writing(spans, sectors);
	drive.buffer.writes.idle_ns = 50000 * US;
}

/* What has been put away is a segment like others: of 150 sectors it keeps the last 100. */
static void of_a_long_one_the_tail_is_kept(void)
{
	set_waiting(1, 150);
	writes(1000, 150, WRITE + 150 * BUS);
	now += drive_flush(&drive, now);
	reads(1050, 100, HIT + 100 * BUS, true);
	reads(1049, 1, MISS(FAR, 1), false);
}

/* The first begins at 360 us and is there at 6,440; in that ns the second begins. */
static void one_is_there_before_the_next_begins(void)
{
	set_writing(3, 100);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	now = 6440 * US;
	reads(1000, 8, HIT + 8 * BUS, true);
}

/* One way of the arm for both. */
static void they_are_joined_until_there_is_no_room(void)
{
	set_waiting(2, 16);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(1008, 8, WRITE + 8 * BUS);
	CHECK_EQ(drive_flush(&drive, now), FAR + 16 * SECTOR);
}

/* Two wait and the drive is in a hurry; then there is room again, and it has time. */
static void a_reset_forgets_what_was_written(void)
{
	set_waiting(2, 16);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	writes(5000, 8, FAR + 8 * SECTOR);
	drive_reset(&drive);
	now = 0;
	CHECK_EQ(drive_flush(&drive, now), 0);
	writes(1000, 8, WRITE + 8 * BUS);
	writes(3000, 8, WRITE + 8 * BUS);
	now += 20000 * US;
	CHECK_EQ(drive_flush(&drive, now), 2 * (FAR + 8 * SECTOR));
}

int main(void)
{
	of_a_long_one_the_tail_is_kept();
	one_is_there_before_the_next_begins();
	they_are_joined_until_there_is_no_room();
	a_reset_forgets_what_was_written();
	return 0;
}
