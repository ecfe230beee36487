// SPDX-License-Identifier: MIT
/* The buffer, times by hand. */
#include "../../core/estimate.h"
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

/* What lies ahead comes by: 60 sectors in 600 us, of which 80 us are over. */
static void a_read_ahead_waits_for_it(void)
{
	set_reading(4, 90);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1067, 1, 520 * US, false);
	reads(1067, 1, HIT + BUS, true);
}

/* 60 sectors before it, or the arm goes: it needs a seek, and no more than that. */
static void what_is_far_ahead_is_not_waited_for(u64 reach_sectors)
{
	set_reading(4, 90);
	drive.buffer.reach_sectors = reach_sectors;
	reads(1000, 8, MISS(FAR, 8), false); /* then 8 come while the bus is busy */
	reads(1067, 1, reach_sectors < 51 ? MISS(FAR, 1) : 520 * US, false);
}

/* A read that goes on past where the drive would have stopped keeps the medium going. */
static void it_goes_on_past_its_limit(void)
{
	set_reading(4, 10);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 50, HIT + 50 * BUS, false);
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
	drive.buffer.ahead_to_track_end = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1050, 8, MISS(NEAR, 8), false);
}

static void a_stream_goes_over_it(void)
{
	set_reading(4, 90);
	drive.buffer.ahead_to_track_end = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1008, 42, HIT + 42 * BUS, true);
	now += 10000 * US;
	reads(1050, 8, HIT + 8 * BUS, true);
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
	drive.buffer.hits_interrupt = interrupt;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	reads(1000, 1, HIT + BUS,
	      true); /* then 8, or with 120 us more 20 are read on */
	if (interrupt)
		reads(5008, 9, MISS(FAR - 2000 * US, 9), false);
	else
		reads(5008, 20, HIT + 20 * BUS, true);
}

/* The segment's room is for what follows: 100 sectors, and then what was asked for is gone. */
static void reading_ahead_overwrites(u64 overwrites)
{
	set_reading(4, 100);
	drive.buffer.ahead_overwrites = overwrites;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 700 * US;
	reads(1000, 8, HIT + 8 * BUS, true); /* 78 have come, all fits */
	now += 10000 * US;
	reads(1100, 1, overwrites ? HIT + BUS : MISS(NEAR, 1), overwrites);
	set_reading(4, 100);
	drive.buffer.ahead_overwrites = overwrites;
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
	drive.buffer.ahead_overwrites = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	for (i = 0; i < 10; i++)
		reads(1000, 8, HIT + 8 * BUS, true);
	now += 10000 * US;
	reads(1000, 8, MISS(FAR, 8), false);
}

/* Where it has stopped it stays, if a hit does not make it go on. */
static void a_hit_may_not_resume_it(void)
{
	set_reading(4, 10);
	drive.buffer.hits_resume = 0;
	reads(1000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1008, 10, HIT + 10 * BUS, true);
	now += 20000 * US;
	reads(1018, 10, MISS(NEAR, 10), false);
}

/* Left after 8 sectors more; once it is hit to its end the arm goes back, for 2 ms and 4. */
static void the_arm_returns(u64 returns)
{
	set_reading(4, 50);
	drive.buffer.hits_return = returns;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, 16, HIT + 16 * BUS, true);
	now += 20000 * US;
	reads(1016, 8, returns ? HIT + 8 * BUS : MISS(FAR, 8), returns);
}

/* A hit is in sequence: what follows it is read over the track's end, at 1050. */
static void it_returns_to_a_stream(void)
{
	set_reading(4, 50);
	drive.buffer.hits_return = drive.buffer.ahead_to_track_end = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	now += 10000 * US;
	reads(1000, 16, HIT + 16 * BUS, true);
	now += 20000 * US;
	reads(1016, 40, HIT + 40 * BUS, true);
}

/* The arm stays at 5008. */
static void it_does_not_return_for_nothing(void)
{
	set_reading(4, 0);
	drive.buffer.hits_return = 1;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(5000, 8, MISS(FAR, 8), false);
	reads(1000, 8, HIT + 8 * BUS, true);
	now += 20000 * US;
	reads(5008, 8, MISS(NEAR, 8), false);
}

/* The seek has begun and has 3 ms to go, less the hit of 420 us; a hit inside begins none. */
static void a_return_is_not_given_up(u32 hit_sectors)
{
	u64 left_ns = hit_sectors == 16 ? 3000 * US - HIT - 16 * BUS : 0;

	set_reading(4, 50);
	drive.buffer.hits_return = 1;
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
	drive.random_phase = 1;
	drive.buffer.bus_ps = 0;
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

/* Nothing of it is read on meanwhile, so the drive waits for a whole turn. */
static void a_stream_waits_for_its_place(void)
{
	set_reading(4, 10);
	drive.random_phase = 1;
	drive.buffer.bus_ps = 1000 * SECTOR; /* as fast as the medium */
	now += drive_serve(&drive, IO_READ, 1000, 8, 0, &(bool){ false });
	now += 100 * US; /* there are the ten; 40 us later: */
	now += 40 * US;
	reads(1008, 10, HIT + 10 * SECTOR, true);
	/* stopped 240 us ago, 5760 to go; the ten more that it waits for are read by then */
	reads(1018, 10, 6000 * US - 40 * US - HIT - 10 * SECTOR + 10 * SECTOR, false);
}

/* Of three segments the one that was used longest ago goes, or the first. */
static void the_oldest_goes(u64 first_in_first_out)
{
	set_reading(3, 0);
	drive.buffer.segments.first_in_first_out = first_in_first_out;
	reads(1000, 8, MISS(FAR, 8), false);
	reads(2000, 8, MISS(FAR, 8), false);
	reads(3000, 8, MISS(FAR, 8), false);
	reads(1000, 8, HIT + 8 * BUS, true);
	reads(4000, 8, MISS(FAR, 8), false);
	reads(2000, 8, first_in_first_out ? HIT + 8 * BUS : MISS(FAR, 8),
	      first_in_first_out);
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

/* One request of more than a segment, too, and before anything else happens. */
static void it_keeps_no_more_than_that(void)
{
	set_reading(4, 0);
	reads(1000, 150, MISS(FAR, 150), false);
	reads(1000, 8, MISS(FAR, 8), false);
}

static void without_segments_nothing_hits(void)
{
	set_reading(0, 0);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1000, 8, MISS(FAR, 8), false);
	reads(1008, 8, MISS(NEAR, 8), false);
}

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
	drive.disk.tracks.nr_points = 0;
	writes(80, 8, WRITE + 8 * BUS);
	drive.disk.tracks.nr_points = 1;
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
	drive.disk.tracks = (struct curve){ 2, { { 0, 10 }, { 100, 128 } } };
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

static u64 below(struct draw *draw, u64 n)
{
	return draw_below(draw, n);
}

static struct buffer any_buffer(struct draw *draw)
{
	return (struct buffer){
		.same_track_saves_ns = below(draw, 2) * below(draw, WRITE),
		.settle_ns = below(draw, 1000 * US),
		.ahead_sectors = below(draw, 120),
		.reach_sectors = below(draw, 120),
		.ahead_to_track_end = below(draw, 2),
		.ahead_overwrites = below(draw, 2),
		.hits_resume = below(draw, 2),
		.hits_interrupt = below(draw, 2),
		.hits_return = below(draw, 2),
		.segments = { .nr = below(draw, 5),
			      .sectors = 1 + below(draw, 100),
			      .first_in_first_out = below(draw, 2) },
		.writes = { .spans_max = below(draw, 5),
			    .sectors_max = 1 + below(draw, 100),
			    .idle_ns = below(draw, 2) * below(draw, 9000 * US),
			    .low_sectors = below(draw, 2),
			    .order = below(draw, 4) },
	};
}

/* Whatever is asked: in time, nothing is lost, and the same again from a reset on. */
static void bounds(struct draw *draw)
{
	struct draw again = *draw;
	u64 sum[2] = { 0, 0 };
	u32 round, i;

	set(any_buffer(draw));
	drive.random_phase = below(draw, 2);
	again = *draw;
	for (round = 0; round < 2; round++) {
		*draw = again;
		drive_reset(&drive);
		now = 0;
		for (i = 0; i < 300; i++) {
			u32 sectors = 1 + below(draw, 90);
			u64 sector = below(draw, 2) ? below(draw, 300)
						    : below(draw, CAPACITY - 90);
			bool write = below(draw, 3) == 0, hit;
			u64 ns = drive_serve(&drive, write ? IO_WRITE : IO_READ, sector,
					     sectors, now, &hit);

			CHECK(ns && ns <= drive_slowest_ns(&drive, sectors));
			CHECK(!hit || ns >= HIT + sectors * BUS);
			CHECK(write || ns >= sectors * BUS);
			now += ns + below(draw, 2) * below(draw, 5000 * US);
			sum[round] += ns;
		}
		CHECK(drive_flush(&drive, now) <= drive_slowest_ns(&drive, 0));
		CHECK_EQ(drive.buffer.writes.nr, 0);
	}
	CHECK_EQ(sum[0], sum[1]);
}

/* Accepted up to its limit, and not beyond. */
static void goes_up_to(u64 *value, u64 limit)
{
	*value = limit;
	CHECK_EQ(drive_check(&drive), 0);
	*value = limit + 1;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

static void limits_are_held(void)
{
	struct buffer *buffer = &drive.buffer;
	struct {
		u64 *value;
		u64 limit;
	} limits[] = {
		{ &drive.hit_ns, DISK_NS_MAX },
		{ &buffer->bus_ps, DISK_SECTOR_PS_MAX },
		{ &buffer->write_ns, DISK_NS_MAX },
		{ &buffer->same_track_saves_ns, WRITE },
		{ &buffer->settle_ns, DISK_NS_MAX },
		{ &buffer->ahead_sectors, (u64)TRACK * TRACKS_AHEAD_MAX + TRACK - 1 },
		{ &buffer->reach_sectors, U32_MAX },
		{ &buffer->segments.nr, SEGMENTS_MAX },
		{ &buffer->segments.sectors, U32_MAX },
		{ &buffer->writes.spans_max, WRITE_CACHE_SPANS_MAX },
		{ &buffer->writes.idle_ns, DISK_NS_MAX },
		{ &buffer->command_ns, DISK_NS_MAX },
		{ &buffer->writes.low_sectors, 100 },
		{ &buffer->writes.order, WRITE_SHORTEST_POSITIONING },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		set_writing(1, 100);
		goes_up_to(limits[i].value, limits[i].limit);
	}
	set_writing(1, 100);
	drive.disk.tracks.nr_points = 0;
	goes_up_to(&buffer->ahead_sectors, U32_MAX);
}

static void what_contradicts_itself_is_refused(void)
{
	set_writing(1, 100);
	drive.buffer.writes.sectors_max = 0;
	CHECK_EQ(drive_check(&drive), -EINVAL);
	set_writing(1, 100);
	drive.buffer.segments.sectors = 0;
	CHECK_EQ(drive_check(&drive), -EINVAL);
	drive.buffer.segments.nr = 0;
	CHECK_EQ(drive_check(&drive), 0);
	set_writing(1, 100);
	drive.disk.tracks.point[0].value = 600 / (TRACKS_IN_TURN_MAX + 1) + 1;
	CHECK_EQ(drive_check(&drive), 0);
	drive.disk.tracks.point[0].value--;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

int main(void)
{
	a_hit_costs_its_length();
	reading_ahead_takes_time();
	a_read_ahead_waits_for_it();
	what_is_far_ahead_is_not_waited_for(50);
	what_is_far_ahead_is_not_waited_for(51);
	it_goes_on_past_its_limit();
	it_stops_at_its_limit();
	it_stops_at_the_track_end();
	a_stream_goes_over_it();
	another_place_stops_it();
	so_do_hits_elsewhere(0);
	so_do_hits_elsewhere(1);
	reading_ahead_overwrites(0);
	reading_ahead_overwrites(1);
	what_is_on_the_bus_is_kept();
	a_hit_may_not_resume_it();
	the_arm_returns(0);
	the_arm_returns(1);
	it_returns_to_a_stream();
	it_does_not_return_for_nothing();
	a_return_is_not_given_up(16);
	a_return_is_not_given_up(8);
	near_places_have_an_angle();
	a_stream_waits_for_its_place();
	the_oldest_goes(0);
	the_oldest_goes(1);
	a_segment_keeps_its_tail();
	it_keeps_no_more_than_that();
	without_segments_nothing_hits();
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
	check_seeds(3000, bounds);
	limits_are_held();
	what_contradicts_itself_is_refused();
	return 0;
}
