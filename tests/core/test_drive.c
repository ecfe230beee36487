// SPDX-License-Identifier: MIT
/* The phase of the platter: half a rotation, or a draw that is as much on average. */
#include <math.h>

#include "../../core/drive.h"
#include "check.h"

#define ROTATION_NS 5999999ull
#define SEEK_NS 1000000
#define DRAWS 100000

static struct drive drive;

static void set(u64 random_phase, u64 seed)
{
	disk_set_linear(&drive.disk, 1000, SEEK_NS, 0);
	drive.disk.rotation_ns = ROTATION_NS;
	drive.random_phase = random_phase;
	drive.seed = seed;
	drive.cache = (struct disk_cache){ 0 };
	drive_reset(&drive);
}

/* What the request waits for its sector. */
static u64 latency(u8 op)
{
	bool hit;

	return drive_serve(&drive, op, 500, 8, 0, &hit) - SEEK_NS;
}

static void the_mean_one_is_half(void)
{
	set(0, 1);
	CHECK_EQ(latency(IO_READ), ROTATION_NS / 2);
	CHECK_EQ(latency(IO_WRITE), ROTATION_NS / 2);
}

/* Within a rotation, half on average, as spread as a uniform draw is. */
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
	/* Five standard deviations of the mean of so many draws. */
	CHECK(fabs(mean - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS));
	CHECK(fabs(square - mean * mean - 1 / 12.0) < 0.002);
}

static void a_reset_repeats_them(void)
{
	u64 first[100];
	u32 i, same = 0;

	set(1, 7);
	for (i = 0; i < 100; i++)
		first[i] = latency(IO_READ);
	drive_reset(&drive);
	for (i = 0; i < 100; i++)
		CHECK_EQ(latency(IO_READ), first[i]);
	set(1, 8);
	for (i = 0; i < 100; i++)
		same += latency(IO_READ) == first[i];
	CHECK(same < 5);
}

/* From a stream above those of all processes: it takes no draw from a workload. */
static void they_are_drawn_one_after_the_other(void)
{
	struct draw draw;
	u32 i;

	set(1, 7);
	draw_seed(&draw, 7, 1ull << 32);
	for (i = 0; i < 100; i++)
		CHECK_EQ(latency(i % 2), draw_below(&draw, ROTATION_NS));
}

/* The zone is that of the request, wherever the head comes from. */
static void the_rate_is_that_of_the_place(void)
{
	bool hit;

	set(0, 1);
	drive.disk.rotation_ns = 0;
	drive.disk.transfer.nr_points = 2;
	drive.disk.transfer.point[0] = (struct curve_point){ 0, 0 };
	drive.disk.transfer.point[1] = (struct curve_point){ 1000, 1000000 };
	CHECK_EQ(drive_serve(&drive, IO_READ, 500, 8, 0, &hit), SEEK_NS + 8 * 500);
	CHECK_EQ(drive_serve(&drive, IO_WRITE, 100, 4, 0, &hit), SEEK_NS + 4 * 100);
}

/* Hits draw nothing: what follows them is as without them. */
static void hits_do_not_wait(void)
{
	u64 second;
	bool hit;

	set(1, 3);
	latency(IO_READ);
	second = latency(IO_READ);
	set(1, 3);
	drive.cache.segments = 1;
	drive.cache.segment_sectors = 8;
	drive.hit_ns = 77;
	latency(IO_READ);
	CHECK_EQ(drive_serve(&drive, IO_READ, 500, 8, 0, &hit), 77);
	CHECK(hit);
	CHECK_EQ(latency(IO_WRITE), second);
}

static void no_rotation_no_wait(void)
{
	set(1, 1);
	drive.disk.rotation_ns = 0;
	CHECK_EQ(latency(IO_READ), 0);
	drive.disk.rotation_ns = 1;
	CHECK_EQ(latency(IO_READ), 0);
}

int main(void)
{
	the_mean_one_is_half();
	check_seeds(20, random_ones_are_uniform);
	a_reset_repeats_them();
	they_are_drawn_one_after_the_other();
	the_rate_is_that_of_the_place();
	hits_do_not_wait();
	no_rotation_no_wait();
	return 0;
}
