// SPDX-License-Identifier: MIT
/*
 * The mechanics: the papers' linear disk, Vesper's curves against the formula in double
 * precision, and disks that disk_check refuses.
 */
#include <math.h>

#include "../../core/drive/disk.h"
#include "check.h"
#include "laid_out.h"

#define CAPACITY 143374744ull
#define LONGEST_SECTORS \
	32768 /* 16 MB, the longest transfer of SIGCSE 2006 section 2.2 */

static struct disk disk;

static void the_papers_line(void)
{
	linear(&disk, CAPACITY, 4250000, 5250000);
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 8), 4250000);
	CHECK_EQ(disk_service_ns(&disk, CAPACITY, 0, 8), 9500000);
	CHECK_EQ(disk_service_ns(&disk, 0, CAPACITY / 2, 8), 4250000 + 2625000);
	CHECK_EQ(disk_service_ns(&disk, 5, 4, 8), 4250000);
	CHECK_EQ(disk_service_ns(&disk, 100000, 0, 8),
		 4250000 + 5250000 * 100000ull / CAPACITY);
}

/*
 * The service time has all four terms; the next sequential request pays seek(0) and
 * half a rotation as well.
 */
static void every_term_is_charged(void)
{
	linear(&disk, 1000, 10, 1000);
	disk.rotation_ns = 601;
	SAMPLE(disk.seek, 0).value = 200;
	disk.transfer = CURVE({ 0, 5000 }, { 1000, 7000 });
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 3), 10 + 200 + 300 + 15);
	CHECK_EQ(disk_service_ns(&disk, 500, 500, 1), 10 + 200 + 300 + 6);
	CHECK_EQ(disk_service_ns(&disk, 0, 500, 2), 10 + 600 + 300 + 12);
	CHECK_EQ(disk_service_ns(&disk, 1000, 1, 999), 10 + 999 + 300 + 4996);
	CHECK_EQ(disk_slowest_ns(&disk, 3), 10 + 1000 + 601 + 21);
}

static void zones_are_jumps(void)
{
	linear(&disk, 1000, 10, 1000);
	disk.transfer =
		CURVE({ 0, 5000 }, { 499, 5000 }, { 500, 7999 }, { 1000, 7999 });
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 3), 10 + 15);
	CHECK_EQ(disk_service_ns(&disk, 499, 499, 2), 10 + 10);
	CHECK_EQ(disk_service_ns(&disk, 500, 500, 2), 10 + 15);
}

static void refused(void)
{
	linear(&disk, 0, 1, 1);
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, 1, 1);
	disk.seek.nr_points = 0;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, 1, 1);
	disk.capacity_sectors = 11;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, DISK_NS_MAX + 1, 1);
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, 1, DISK_NS_MAX + 1);
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, 1, 1);
	disk.rotation_ns = DISK_NS_MAX + 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	linear(&disk, 10, 1, 1);
	disk.transfer.nr_points = 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.transfer = CURVE({ 0, 1 }, { 10, DISK_SECTOR_PS_MAX + 1 });
	CHECK_EQ(disk_check(&disk), -EINVAL);
	SAMPLE(disk.transfer, 1).value--;
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_slowest_ns(&disk, U32_MAX), 2 + U32_MAX * 100000000ull);
}

/* After each sector, a track switch takes a minute. */
static void more_than_can_be_counted_is_for_ever(void)
{
	static struct disk slow;

	linear(&slow, 10, 1, 1);
	slow.tracks = ZONES({ .sectors = 1 });
	slow.switch_ns = DISK_NS_MAX;
	CHECK_EQ(disk_check(&slow), 0);
	CHECK_EQ(disk_slowest_ns(&slow, U32_MAX), U64_MAX);
}

/* The limits are a minute for each part and 100 us for a sector. */
static void the_limits(void)
{
	linear(&disk, 10, 60000000000ull, 60000000000ull);
	disk.rotation_ns = 60000000000ull;
	CHECK_EQ(disk_check(&disk), 0);
	SAMPLE(disk.seek, 1).value++;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	SAMPLE(disk.seek, 1).value--;
	disk.rotation_ns++;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.rotation_ns--;
	disk.intercept_ns++;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.intercept_ns--;
	disk.transfer = CURVE({ 0, 100000000000ull }, { 10, 100000000000ull });
	CHECK_EQ(disk_check(&disk), 0);
	SAMPLE(disk.transfer, 0).value++;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	/* linear() clears the transfer curve of the disk's previous use. */
	linear(&disk, 10, 1, 1);
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 1000), 1);
}

/* Make a curve with samples at random positions of the disk, in order. */
static void random_curve(struct draw *draw, struct curve *curve, u64 end, u64 max)
{
	struct curve_point point[401];
	u32 intervals = 1 + draw_below(draw, 400);
	u32 i;

	for (i = 0; i <= intervals; i++) {
		point[i].at = end / intervals * i;
		if (i && i < intervals)
			point[i].at += draw_below(draw, end / intervals);
		point[i].value = draw_below(draw, max + 1);
	}
	point[intervals].at = end;
	*curve = curve_of(intervals + 1, point);
}

static void random_disk(struct draw *draw)
{
	disk.capacity_sectors =
		1000 + draw_below(draw, 1ull << (10 + draw_below(draw, 31)));
	disk.intercept_ns = draw_below(draw, 10000000);
	disk.rotation_ns = draw_below(draw, 20000000);
	random_curve(draw, &disk.seek, disk.capacity_sectors,
		     1ull << draw_below(draw, 36));
	random_curve(draw, &disk.transfer, disk.capacity_sectors,
		     1ull << draw_below(draw, 37));
	CHECK_EQ(disk_check(&disk), 0);
}

static double line(const struct curve *curve, double at)
{
	const struct curve_point *a = curve->point;

	while (a[1].at < at)
		a++;
	return (double)a->value + ((double)a[1].value - (double)a->value) *
					  (at - (double)a->at) /
					  ((double)a[1].at - (double)a->at);
}

/* The model of docs/method.md; the time for one sector is interpolated. */
static double formula(u64 head, u64 sector, u32 sectors)
{
	return (double)disk.intercept_ns +
	       line(&disk.seek, fabs((double)sector - (double)head)) +
	       (double)disk.rotation_ns / 2 +
	       sectors * line(&disk.transfer, (double)sector) / 1000;
}

static void close_to_the_formula(struct draw *draw)
{
	u64 head, sector, service_ns;
	u32 i, sectors;

	random_disk(draw);
	for (i = 0; i < 1000; i++) {
		sectors = 1 + draw_below(draw, LONGEST_SECTORS);
		head = draw_below(draw, disk.capacity_sectors + 1);
		sector = draw_below(draw, disk.capacity_sectors);
		service_ns = disk_service_ns(&disk, head, sector, sectors);
		CHECK(fabs((double)service_ns - formula(head, sector, sectors)) < 1000);
		CHECK(service_ns <= disk_slowest_ns(&disk, sectors));
	}
}

/* The seek time depends only on the distance, not on start or direction. */
static void same_both_ways(struct draw *draw)
{
	u64 far, from;
	u32 i;

	random_disk(draw);
	disk.transfer.nr_points = 0;
	for (i = 0; i < 200; i++) {
		far = draw_below(draw, disk.capacity_sectors + 1);
		from = draw_below(draw, disk.capacity_sectors - far + 1);
		CHECK_EQ(disk_service_ns(&disk, from, from + far, 1),
			 disk_service_ns(&disk, from + far, from, 1));
		CHECK_EQ(disk_service_ns(&disk, from, from + far, 1),
			 disk_service_ns(&disk, 0, far, 1));
	}
}

/*
 * Each track holds one sector, and its other nine are spare, so each further sector takes nearly a
 * rotation.
 */
static void the_slowest_is_over_the_shortest_tracks(void)
{
	static struct disk kept;
	u64 turn_ns = 1000000;

	linear(&kept, 1000, 0, 5000);
	kept.rotation_ns = turn_ns;
	kept.tracks = ZONES({ .sectors = 10,
			      .slot = U64_MAX / 10,
			      .cylinder = { 1, 1, U64_MAX / 10 * 8 } });
	kept.tracks.velocity = U64_MAX / turn_ns;
	CHECK_EQ(disk_check(&kept), 0);
	CHECK(disk_end_ns(&kept, 0, 10, 0) > 8 * turn_ns);
	CHECK(disk_end_ns(&kept, 0, 10, 0) <= disk_slowest_ns(&kept, 10));
}

int main(void)
{
	the_papers_line();
	every_term_is_charged();
	zones_are_jumps();
	refused();
	the_limits();
	more_than_can_be_counted_is_for_ever();
	check_seeds(300, close_to_the_formula);
	check_seeds(200, same_both_ways);
	the_slowest_is_over_the_shortest_tracks();
	return 0;
}
