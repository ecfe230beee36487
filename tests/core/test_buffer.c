// SPDX-License-Identifier: MIT
/* Reads in the buffer: hits, reading ahead, segments; times by hand. */
#include "round_drive.h"

static void a_hit_costs_its_length(void)
{
	set_reading(4, 0);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1000, 8, HIT + 8 * BUS, true);
	reads(1004, 4, HIT + 4 * BUS, true);
}

/* While the bus takes 80 us longer, 8 sectors more pass, then one each 10 us. */
static void reading_ahead_takes_time(void)
{
	set_reading(4, 60);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 8, HIT + 8 * BUS, true);
	/* 26 more have passed; the 30 of this one are there before the bus is done */
	reads(1016, 30, HIT + 30 * BUS, false);
	now += 10000 * US;
	reads(1046, 60, HIT + 60 * BUS, true);
}

/* The bus begins when six of eight sectors have passed; of what is held in part it begins at once. */
static void the_bus_waits_for_its_watermark(void)
{
	set_reading(4, 0);
	drive.bus.watermark_percent = 75;
	reads(1000, 8, FAR + 6 * SECTOR + 8 * BUS, false);
	reads(1000, 8, HIT + 8 * BUS, true);
	/* the first six are held; the last two come while the bus is busy */
	reads(1002, 8, NEAR + 2 * BUS, false);
}

/* No longer than for a segment to be full. */
static void the_watermark_is_within_a_segment(void)
{
	set_reading(4, 0);
	drive.bus.watermark_percent = 100;
	reads(1000, 150, FAR + 100 * SECTOR + 150 * BUS, false);
}

/* What lies ahead comes by: 59 sectors in 590 us, of which 80 us are over, and goes out. */
static void a_read_ahead_waits_for_it(void)
{
	set_reading(4, 90);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1067, 1, 510 * US + BUS, false);
	reads(1067, 1, HIT + BUS, true);
}

/* 60 sectors before it, or the arm goes: it needs a seek, and no more than that. */
static void what_is_far_ahead_is_not_waited_for(u64 reach_sectors)
{
	set_reading(4, 90);
	drive.ahead.reach_sectors = reach_sectors;
	reads(1000, 8, MISS(FAR, 8), false); /* then 8 come while the bus is busy */
	reads(1067, 1, reach_sectors < 52 ? MISS(FAR, 1) : 510 * US + BUS, false);
}

static void it_stops_at_its_limit(void)
{
	set_reading(4, 10);
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1008, 10, HIT + 10 * BUS, true);
	now += 20000 * US;
	reads(1018, 10, HIT + 10 * BUS, true); /* the hit made room for more */
	reads(2000, 8, MISS(FAR, 8), false);
}

/* Sectors 1000 to 1050 are a track. */
static void it_stops_at_the_track_end(void)
{
	set_reading(4, 90);
	drive.ahead.to_track_end = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1050, 8, MISS(NEAR, 8), false);
}

/*
 * If hits do not make it go on, it stands there.  The read that the arm goes for then is in
 * sequence: to the end of the next one.
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
	reads(5000, 8, MISS(FAR, 8), false); /* 18 have been read on */
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
	      true); /* then 8, or with 120 us more 20 are read on */
	if (interrupt)
		reads(5008, 9, NEAR + BUS, false); /* 8 are sent meanwhile */
	else
		reads(5008, 20, HIT + 20 * BUS, true);
}

/* The segment's room is for what follows: 100 sectors, and then what was asked for is gone. */
static void reading_ahead_overwrites(u64 overwrites)
{
	set_reading(4, 100);
	drive.ahead.overwrites = overwrites;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 700 * US;
	reads(1000, 8, HIT + 8 * BUS, true); /* 78 have come, all fits */
	now += 10000 * US;
	reads(1100, 1, overwrites ? HIT + BUS : MISS(NEAR, 1), overwrites);
	set_reading(4, 100);
	drive.ahead.overwrites = overwrites;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, 8, overwrites ? MISS(FAR, 8) : HIT + 8 * BUS, !overwrites);
}

/*
 * Hits of 260 us without a pause: 1000 would be overwritten in the fourth, but it is on the bus.
 * The head waits before 1100 until that is done, and then for its sector.
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

/* Left after 8 sectors more; once it is hit to its end the arm goes back, for 2 ms and 4. */
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

/* The seek has begun and has 3 ms to go, less the hit; one out of sequence begins none. */
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
 * Where the head was last is known, and a turn is 6 ms: the sector behind the last one has
 * just gone by when the arm is ready after 1 ms, the 8 before it as well.
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
	/* 400 sectors ahead, 4 ms, of which 3 for the arm; then back */
	reads(1424, 8, 4000 * US + 8 * SECTOR, false);
	reads(1024, 8, 12000 * US - 408 * SECTOR + 8 * SECTOR, false);
}

/* Of three segments the one that was used longest ago goes. */
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

/* 40 sectors fit twice and a half: the segment keeps its tail. */
static void a_segment_keeps_its_tail(void)
{
	set_reading(1, 0);
	reads(1000, 40, MISS(FAR, 40), false);
	reads(1040, 40, MISS(NEAR, 40), false);
	reads(1080, 40, MISS(NEAR, 40), false);
	reads(1020, 100, HIT + 100 * BUS, true);
	reads(1019, 1, MISS(FAR, 1), false);
}

/* Nothing is held of a miss, however slow hits are. */
static void a_miss_waits_for_no_hit(void)
{
	set_reading(4, 50);
	drive.bus.hit_ns = 10000 * US;
	reads(1000, 8, MISS(FAR, 8), false);
}

/*
 * The bus has sent what lies before the track's end long before the next one begins, and has
 * nothing to send meanwhile.  The third track begins while the second one is on it, or after.
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
