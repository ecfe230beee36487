// SPDX-License-Identifier: MIT
/* Drives: rotational latency (half a rotation or a draw), seeks, and limits. */
#include <math.h>

#include "../../core/drive/drive.h"
#include "check.h"
#include "laid_out.h"

#define ROTATION_NS 5999999ull
#define SEEK_NS 1000000
#define DRAWS 100000

static struct drive drive;

static void set(u64 random_phase, u64 seed)
{
	drive = (struct drive){ .arm.random_phase = random_phase, .arm.seed = seed };
	linear(&drive.disk, 1000, SEEK_NS, 0);
	drive.disk.rotation_ns = ROTATION_NS;
	drive_reset(&drive);
}

/* Return the rotational latency of a request. */
static u64 latency(u8 op)
{
	bool hit;

	return drive_serve(&drive, op, 500, 8, 0, &hit) - SEEK_NS;
}

/* Latencies are below one rotation, half of it on average, with the variance of a uniform draw. */
static void random_ones_are_uniform(struct draw *draw)
{
	double mean = 0, square = 0;
	u32 i;

	set(1, draw_u64(draw));
	for (i = 0; i < DRAWS; i++) {
		u64 waited = latency(i % 2 ? IO_READ : IO_WRITE);
		double share = (double)waited / ROTATION_NS;

		CHECK(waited < ROTATION_NS);
		mean += share / DRAWS;
		square += share * share / DRAWS;
	}
	/* Five standard deviations of the mean of DRAWS draws. */
	CHECK(fabs(mean - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS));
	CHECK(fabs(square - mean * mean - 1 / 12.0) < 0.002);
}

/* The latencies come from a stream that no process uses, so they take no draw from a workload. */
static void they_are_drawn_one_after_the_other(void)
{
	struct draw draw;
	u32 i;

	set(1, 7);
	draw_seed(&draw, 7, 1ull << 32);
	for (i = 0; i < 100; i++)
		CHECK_EQ(latency(i % 2), draw_below(&draw, ROTATION_NS));
}

/* The request's zone decides the rate, wherever the head comes from. */
static void the_rate_is_that_of_the_place(void)
{
	bool hit;

	set(0, 1);
	drive.disk.rotation_ns = 0;
	drive.disk.transfer = CURVE({ 0, 1000000 }, { 1000, 2000000 });
	CHECK_EQ(drive_serve(&drive, IO_READ, 500, 8, 0, &hit), SEEK_NS + 8 * 1500);
	CHECK_EQ(drive_serve(&drive, IO_WRITE, 100, 4, 0, &hit), SEEK_NS + 4 * 1100);
}

/* 1 us for each sector of seek distance, and 2 us for each sector read. */
static void from_where_the_last_one_ended(u64 rotation_ns)
{
	u64 each_ns = SEEK_NS + rotation_ns / 2;
	bool hit;

	set(0, 1);
	linear(&drive.disk, 1000, SEEK_NS, 1000000);
	drive.disk.rotation_ns = rotation_ns;
	drive.disk.transfer = CURVE({ 0, 2000000 }, { 1000, 2000000 });
	CHECK_EQ(drive_serve(&drive, IO_READ, 500, 8, 0, &hit),
		 each_ns + 500000 + 16000);
	CHECK_EQ(drive_serve(&drive, IO_READ, 508, 4, 0, &hit), each_ns + 8000);
	CHECK_EQ(drive_serve(&drive, IO_WRITE, 100, 10, 0, &hit),
		 each_ns + 412000 + 20000);
}

static void without_a_buffer_nothing_is_put_away(void)
{
	set(0, 1);
	CHECK_EQ(drive_flush(&drive, 5), 0);
}

/* A drive whose arm and rotation take 9 ms, and a sector at most 3 us. */
static void set_slowest(struct drive is)
{
	set(0, 1);
	drive.bus = is.bus;
	drive.ahead = is.ahead;
	drive.writes = is.writes;
	drive_reset(&drive);
	linear(&drive.disk, 1000, SEEK_NS, 2000000);
	drive.disk.rotation_ns = 6000000;
	drive.disk.transfer = CURVE({ 0, 1000000 }, { 1000, 3000000 });
}

static void the_slowest_is_a_miss_or_a_hit(void)
{
	set_slowest((struct drive){ 0 });
	CHECK_EQ(drive_slowest_ns(&drive, 10), 9030000);
	drive.bus.hit_ns = 9030001;
	CHECK_EQ(drive_slowest_ns(&drive, 10), 9030001);
}

/*
 * Three writes and a return take 9.5 ms each, and their sectors 9 ms and 64 times 3 us.
 * Then the request waits for 50 sectors of read-ahead, and the arm settles: 9.68 ms.  A
 * hit, a write and 10 sectors on the bus follow.
 */
static void the_slowest_with_a_buffer_waits_for_all_others(void)
{
	set_slowest((struct drive){
		.bus.sector_ps = 20000000,
		.bus.write_ns = 200000,
		.ahead.sectors = 50,
		.ahead.after_hit = AFTER_HIT_RETURN,
		.writes = { .settle_ns = 500000, .spans_max = 3, .sectors_max = 64 } });
	drive.buffered = 1;
	drive.bus.hit_ns = 100000;
	CHECK_EQ(drive_check(&drive), 0);
	CHECK_EQ(drive_slowest_ns(&drive, 10),
		 4 * 9500000 + 9192000 + 9680000 + 100000 + 200000 + 200000);
}

/* Each sector has a track of its own, and a track switch takes a minute. */
static void more_than_can_be_counted_is_for_ever(void)
{
	set_slowest(
		(struct drive){ .writes = { .spans_max = 1, .sectors_max = U32_MAX } });
	drive.buffered = 1;
	drive.disk.tracks = ZONES({ .sectors = 1 });
	drive.disk.switch_ns = DISK_NS_MAX;
	drive.disk.rotation_ns = 0;
	CHECK_EQ(drive_check(&drive), 0);
	CHECK_EQ(drive_slowest_ns(&drive, 10), U64_MAX);
	drive.writes.sectors_max++;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

/* In the second zone, each track has a single sector. */
static void no_zone_has_too_many_tracks_to_count(void)
{
	set_slowest((struct drive){ .ahead.sectors = TRACKS_AHEAD_MAX });
	drive.disk.rotation_ns = 0;
	drive.disk.tracks = ZONES({ .sectors = 100 }, { .first = 500, .sectors = 1 });
	drive.buffered = 1;
	CHECK_EQ(drive_check(&drive), 0);
	drive.ahead.sectors++;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

/* Accept a value up to its limit, and refuse more. */
static void goes_up_to(u64 *value, u64 limit)
{
	set(0, 1);
	*value = limit;
	CHECK_EQ(drive_check(&drive), 0);
	*value = limit + 1;
	CHECK_EQ(drive_check(&drive), -EINVAL);
}

static void limits_are_held(void)
{
	goes_up_to(&drive.bus.hit_ns, DISK_NS_MAX);
	goes_up_to(&drive.queue_depth, QUEUE_DEPTH_MAX);
	goes_up_to(&drive.queue_age_ns, DISK_NS_MAX);
	goes_up_to(&drive.cache.segments, DISK_CACHE_SEGMENTS_MAX);
}

int main(void)
{
	check_seeds(20, random_ones_are_uniform);
	they_are_drawn_one_after_the_other();
	the_rate_is_that_of_the_place();
	from_where_the_last_one_ended(0);
	from_where_the_last_one_ended(ROTATION_NS);
	without_a_buffer_nothing_is_put_away();
	the_slowest_is_a_miss_or_a_hit();
	the_slowest_with_a_buffer_waits_for_all_others();
	more_than_can_be_counted_is_for_ever();
	no_zone_has_too_many_tracks_to_count();
	limits_are_held();
	return 0;
}
