// SPDX-License-Identifier: MIT
/* Reads in the buffer: hits, read-ahead, segments; times calculated by hand. */
#include "round_drive.h"

static void a_hit_costs_its_length(void)
{
	set_reading(4, 0);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1000, 8, HIT + 8 * BUS, true);
	reads(1004, 4, HIT + 4 * BUS, true);
}

/* 8 more sectors pass during the bus's extra 80 us, then one sector each 10 us. */
static void reading_ahead_takes_time(void)
{
	set_reading(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 8, HIT + 8 * BUS, true);
	/* 26 more sectors have passed; this read's 30 are all read before its transfer ends */
	reads(1016, 30, HIT + 30 * BUS, false);
	now += 10000 * US;
	reads(1046, 60, HIT + 60 * BUS, true);
}

/* The bus starts when six of eight sectors have passed; on a partial hit the bus starts at once. */
static void the_bus_waits_for_its_watermark(void)
{
	set_reading(4, 0);
	drive.bus.watermark_percent = 75;
	reads(1000, 8, FAR + 6 * SECTOR + 8 * BUS, false);
	reads(1000, 8, HIT + 8 * BUS, true);
	/* the first six sectors are held; the last two pass during the transfer */
	reads(1002, 8, NEAR + 2 * BUS, false);
}

/* A full segment starts the bus, whatever the watermark. */
static void the_watermark_is_within_a_segment(void)
{
	set_reading(4, 0);
	drive.bus.watermark_percent = 100;
	reads(1000, 150, FAR + 100 * SECTOR + 150 * BUS, false);
}

/* The wanted sector is 59 sectors ahead: 590 us, less 80 us that have passed. */
static void a_read_ahead_waits_for_it(void)
{
	set_reading(4, 90);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1067, 1, 510 * US + BUS, false);
	reads(1067, 1, HIT + BUS, true);
}

/* Read-ahead is waited for only if the sector is within reach; otherwise the arm seeks. */
static void what_is_far_ahead_is_not_waited_for(u64 reach_sectors)
{
	set_reading(4, 90);
	drive.ahead.reach_sectors = reach_sectors;
	reads(1000, 8, MISS(FAR, 8), false); /* then 8 pass during the transfer */
	reads(1067, 1, reach_sectors < 52 ? MISS(FAR, 1) : 510 * US + BUS, false);
}

static void it_stops_at_its_limit(void)
{
	set_reading(4, 10);
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1008, 10, HIT + 10 * BUS, true);
	now += 20000 * US;
	reads(1018, 10, HIT + 10 * BUS, true); /* the hit made room for read-ahead */
	reads(2000, 8, MISS(FAR, 8), false);
}

/* Sectors 1000 to 1049 are one track. */
static void it_stops_at_the_track_end(void)
{
	set_reading(4, 90);
	drive.ahead.to_track_end = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1050, 8, MISS(NEAR, 8), false);
}

/*
 * Read-ahead stops at the end of the track, and hits do not restart it.  The next miss
 * is sequential, so read-ahead continues to the end of the next track.
 */
static void which_ends_with_the_next(void)
{
	set_reading(4, 90);
	drive.ahead.to_track_end = 1;
	drive.ahead.after_hit = AFTER_HIT_STOP;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 8, HIT + 8 * BUS, true);
	now += 10000 * US;
	reads(1016, 34, HIT + 34 * BUS, true);
	now += 10000 * US;
	reads(1050, 8, MISS(NEAR, 8), false);
	now += 10000 * US;
	reads(1058, 90, HIT + 90 * BUS, true);
}

static void another_place_stops_it(void)
{
	set_reading(4, 90);
	reads(1000, 8, MISS(FAR, 8), false);
	now += 100 * US;
	reads(5000, 8, MISS(FAR, 8), false); /* 18 have been read ahead */
	reads(1008, 18, HIT + 18 * BUS, true);
	reads(1026, 8, MISS(FAR, 8), false);
}

static void so_do_hits_elsewhere(u64 interrupt)
{
	set_reading(4, 90);
	drive.ahead.after_hit = interrupt ? AFTER_HIT_STOP : AFTER_HIT_GO_ON;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	reads(1000, 1, HIT + BUS,
	      true); /* then 8 more sectors are read ahead, or 20 after 120 us more */
	if (interrupt)
		reads(5008, 9, NEAR + BUS, false); /* 8 more are on the bus meanwhile */
	else
		reads(5008, 20, HIT + 20 * BUS, true);
}

/* Read-ahead fills the segment's 100 sectors, and may overwrite the sectors already sent. */
static void reading_ahead_overwrites(u64 overwrites)
{
	set_reading(4, 100);
	drive.ahead.overwrites = overwrites;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 700 * US;
	reads(1000, 8, HIT + 8 * BUS, true); /* 78 read ahead, all fits */
	now += 10000 * US;
	reads(1100, 1, overwrites ? HIT + BUS : MISS(NEAR, 1), overwrites);
	set_reading(4, 100);
	drive.ahead.overwrites = overwrites;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, 8, overwrites ? MISS(FAR, 8) : HIT + 8 * BUS, !overwrites);
}

/*
 * Hits of 260 us follow without a pause.  In the fourth hit, read-ahead would overwrite
 * sector 1000, but that sector is on the bus.  The head waits before sector 1100 until
 * the transfer ends, and then until its sector passes.
 */
static void what_is_on_the_bus_is_kept(void)
{
	u32 i;

	set_reading(4, 100);
	drive.ahead.overwrites = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	for (i = 0; i < 10; i++)
		reads(1000, 8, HIT + 8 * BUS, true);
	now += 10000 * US;
	reads(1000, 8, MISS(FAR, 8), false);
}

/*
 * Read-ahead was interrupted after 8 more sectors.  Once a hit reaches their end, the
 * arm returns, which takes 6 ms (FAR).
 */
static void the_arm_returns(u64 returns)
{
	set_reading(4, 50);
	drive.ahead.after_hit = returns ? AFTER_HIT_RETURN : AFTER_HIT_GO_ON;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, 16, HIT + 16 * BUS, true);
	now += 20000 * US;
	reads(1016, 8, returns ? HIT + 8 * BUS : MISS(FAR, 8), returns);
}

/*
 * The return seek has begun and has 3 ms to go, less the hit's time; a hit that is not
 * sequential begins no return.
 */
static void a_return_is_not_given_up(u32 hit_sectors)
{
	u64 left_ns = hit_sectors >= 8 ? 3000 * US - HIT - hit_sectors * BUS : 0;

	set_reading(4, 50);
	drive.ahead.after_hit = AFTER_HIT_RETURN;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, hit_sectors, HIT + hit_sectors * BUS, true);
	reads(70000, 8, left_ns + MISS(FAR, 8), false);
}

/*
 * The head's last position is known, and a rotation takes 6 ms.  After 1 ms the arm is
 * ready, when the sector after the last one and the 8 sectors before it have just
 * passed.
 */
static void near_places_have_an_angle(void)
{
	u64 end;

	set_reading(0, 0);
	drive.arm.random_phase = 1;
	drive.bus.sector_ps = 0;
	end = drive_serve(&drive, IO_READ, 1000, 8, 0, &(bool){ false });
	now = end;
	reads(1008, 8, 6000 * US + 8 * SECTOR, false);
	reads(1008, 8, 6000 * US, false);
	now += 3000 * US;
	reads(1016, 8, 3000 * US + 8 * SECTOR, false);
	/* 400 sectors ahead: 4 ms, of which 3 ms for the arm; then back */
	reads(1424, 8, 4000 * US + 8 * SECTOR, false);
	reads(1024, 8, 12000 * US - 408 * SECTOR + 8 * SECTOR, false);
}

/* Of three segments, the least recently used is reused. */
static void the_oldest_goes(void)
{
	set_reading(3, 0);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(2000, 8, MISS(FAR, 8), false);
	reads(3000, 8, MISS(FAR, 8), false);
	reads(1000, 8, HIT + 8 * BUS, true);
	reads(4000, 8, MISS(FAR, 8), false);
	reads(2000, 8, MISS(FAR, 8), false);
}

/* A segment fits two and a half reads of 40 sectors, and keeps the newest ones. */
static void a_segment_keeps_its_tail(void)
{
	set_reading(1, 0);
	reads(1000, 40, MISS(FAR, 40), false);
	reads(1040, 40, MISS(NEAR, 40), false);
	reads(1080, 40, MISS(NEAR, 40), false);
	reads(1020, 100, HIT + 100 * BUS, true);
	reads(1019, 1, MISS(FAR, 1), false);
}

/* Slow hits do not delay a miss. */
static void a_miss_waits_for_no_hit(void)
{
	set_reading(4, 50);
	drive.bus.hit_ns = 10000 * US;
	reads(1000, 8, MISS(FAR, 8), false);
}

/*
 * The bus has sent the sectors before the track's end long before the next track
 * begins, and is then idle.  The third track begins during the second track's transfer,
 * or after it.
 */
static void the_bus_waits_for_a_switch(u64 segments)
{
	set_reading(segments, 0);
	drive.disk.switch_ns = 300 * US;
	reads(1046, 4, MISS(FAR, 4), false);
	reads(2046, 8, FAR + 4 * SECTOR + 300 * US + 4 * BUS, false);
	reads(3046, 58, FAR + 4 * SECTOR + 300 * US + 54 * BUS, false);
	drive.disk.switch_ns = 600 * US;
	reads(4046, 58, FAR + 54 * SECTOR + 2 * 600 * US + 4 * BUS, false);
}

int main(void)
{
	a_hit_costs_its_length();
	reading_ahead_takes_time();
	the_bus_waits_for_its_watermark();
	the_watermark_is_within_a_segment();
	a_read_ahead_waits_for_it();
	what_is_far_ahead_is_not_waited_for(51);
	what_is_far_ahead_is_not_waited_for(52);
	it_stops_at_its_limit();
	it_stops_at_the_track_end();
	which_ends_with_the_next();
	another_place_stops_it();
	so_do_hits_elsewhere(0);
	so_do_hits_elsewhere(1);
	reading_ahead_overwrites(0);
	reading_ahead_overwrites(1);
	what_is_on_the_bus_is_kept();
	the_arm_returns(0);
	the_arm_returns(1);
	a_return_is_not_given_up(16);
	a_return_is_not_given_up(4);
	a_return_is_not_given_up(8);
	near_places_have_an_angle();
	the_oldest_goes();
	a_segment_keeps_its_tail();
	a_miss_waits_for_no_hit();
	the_bus_waits_for_a_switch(0);
	the_bus_waits_for_a_switch(4);
	return 0;
}
