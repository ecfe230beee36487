// SPDX-License-Identifier: MIT
/* A buffer that gives back what it has sent: what is left, and what room there is; by hand. */
#include "round_drive.h"

#define PAUSE (10000 * US) /* longer than all that is read ahead */

static void set_discarding(u64 segments, u64 ahead)
{
	set_reading(segments, ahead);
	drive.buffer.discards = 1;
}

static void what_was_sent_is_gone(u64 pause_ns)
{
	set_discarding(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	now += pause_ns;
	reads(1000, 8, MISS(FAR, 8), false);
	now += pause_ns;
	reads(1007, 1, MISS(FAR, 1), false);
}

static void what_follows_is_there(void)
{
	set_discarding(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 8, HIT + 8 * BUS, true);
	now += PAUSE;
	reads(1020, 30, HIT + 30 * BUS, true);
	reads(1016, 4, MISS(FAR, 4), false); /* it was left out, and is gone as well */
}

/* In the segment that is read into, also if it has to wait for what comes by. */
static void what_was_waited_for_is_gone(void)
{
	set_discarding(4, 90);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1067, 1, 510 * US + BUS, false);
	reads(1067, 1, MISS(FAR, 1), false);
}

static void a_part_of_it_is_no_help(void)
{
	set_discarding(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1004, 8, MISS(FAR, 8), false);
}

/* The rest of what a segment holds a part of comes from the medium, and all of it goes. */
static void what_hits_in_part_is_gone(void)
{
	set_discarding(4, 20);
	drive.buffer.hits_resume = 0;
	reads(1000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1018, 20, MISS(NEAR, 10), false); /* ten are sent meanwhile */
	now += PAUSE;
	reads(1037, 1, MISS(FAR, 1), false);
}

/* Of one that is not read into any more. */
static void so_it_is_in_other_segments(void)
{
	set_discarding(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(5000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1010, 10, HIT + 10 * BUS, true);
	reads(1020, 10, HIT + 10 * BUS, true);
	reads(1029, 1, MISS(FAR, 1), false);
}

/* The segment has 100 sectors, all of them for what follows. */
static void its_room_is_for_what_follows(u64 discards)
{
	set_discarding(4, 100);
	drive.buffer.discards = discards;
	reads(1000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1107, 1, discards ? HIT + BUS : MISS(FAR, 1), discards);
}

/*
 * But not before it was sent, as in test_read_ahead.c: the head waits before 1108 until 1008 has
 * left, and then 3 ms for it to come by.
 */
static void once_it_was_sent(void)
{
	set_discarding(4, 100);
	reads(1000, 8, MISS(FAR, 8), false);
	now += 84 * SECTOR;
	reads(1008, 8, HIT + 8 * BUS, true);
	reads(1016, 100, 3000 * US + 8 * BUS, false);
}

/*
 * Two segments: a stream has come to the end of what the first one holds, a write stops the
 * reading on.  It goes on in that segment, so the other one still holds what follows 5000.
 */
static void an_empty_one_goes_on(void)
{
	bool hit;

	set_discarding(2, 20);
	drive.buffer.hits_resume = 0;
	reads(5000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1000, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(1008, 20, HIT + 20 * BUS, true);
	now += drive_serve(&drive, IO_WRITE, 70000, 8, now, &hit);
	reads(1028, 8, MISS(FAR, 8), false);
	now += PAUSE;
	reads(5008, 8, HIT + 8 * BUS, true);
	reads(1036, 8, HIT + 8 * BUS, true);
}

/* The arm goes back behind what was sent, although nothing is left there. */
static void the_arm_returns_to_an_empty_one(void)
{
	set_discarding(4, 50);
	drive.buffer.hits_return = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false); /* 8 have been read on */
	now += PAUSE;
	reads(1008, 8, HIT + 8 * BUS, true);
	now += 2 * PAUSE;
	reads(1016, 8, HIT + 8 * BUS, true);
	reads(1008, 8, MISS(FAR, 8), false);
}

/*
 * When a stream's sector has come, by a time that is rounded, the one before it may seem to lack:
 * what was sent is still not back, and the rest not gone.  So it goes as fast as one that keeps.
 */
static void a_stream_does_not_stumble(u64 odd_ps, u64 pause_ns)
{
	u64 took_ns[2] = { 0, 0 };
	u32 discards, i;

	for (discards = 0; discards < 2; discards++) {
		set_discarding(2, 100);
		drive.buffer.discards = discards;
		drive.buffer.ahead_overwrites = 1;
		drive.buffer.bus_ps = 7000 * US;
		SAMPLE(drive.disk.transfer, 0).value += odd_ps;
		SAMPLE(drive.disk.transfer, 1).value += odd_ps;
		for (i = 0; i < 200; i++) {
			u64 ns = drive_serve(&drive, IO_READ, i * 8, 8, now,
					     &(bool){ false });

			took_ns[discards] += ns;
			now += ns + pause_ns;
		}
	}
	CHECK_EQ(took_ns[1], took_ns[0]);
}

/* As long as it waits to be put away it stays; then it is a segment like others. */
static void what_was_written_is_kept_until_it_is_away(void)
{
	set_writing(1, 100);
	drive.buffer.discards = 1;
	drive.buffer.writes.idle_ns = PAUSE;
	writes(500, 8, WRITE + 8 * BUS);
	reads(500, 8, HIT + 8 * BUS, true);
	reads(500, 8, HIT + 8 * BUS, true);
	now += 3 * PAUSE;
	reads(502, 4, HIT + 4 * BUS, true);
	reads(506, 2, HIT + 2 * BUS, true);
	reads(505, 1, MISS(FAR, 1), false);
}

static void without_segments_there_is_nothing_to_give(void)
{
	set_discarding(0, 0);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1000, 8, MISS(FAR, 8), false);
}

int main(void)
{
	u64 odd_ps;

	what_was_sent_is_gone(0);
	what_was_sent_is_gone(PAUSE);
	what_follows_is_there();
	what_was_waited_for_is_gone();
	a_part_of_it_is_no_help();
	what_hits_in_part_is_gone();
	so_it_is_in_other_segments();
	its_room_is_for_what_follows(0);
	its_room_is_for_what_follows(1);
	once_it_was_sent();
	an_empty_one_goes_on();
	the_arm_returns_to_an_empty_one();
	for (odd_ps = 1; odd_ps < 1000; odd_ps += 37)
		a_stream_does_not_stumble(odd_ps * 1000, odd_ps % 2 * 10 * US);
	what_was_written_is_kept_until_it_is_away();
	without_segments_there_is_nothing_to_give();
	return 0;
}
