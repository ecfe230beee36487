// SPDX-License-Identifier: MIT
/* The mechanics: the papers' line, curves, zones, and what disk_check refuses. */
#include "../../core/disk.h"
#include "check.h"

#define CAPACITY 143374744ull

static struct disk disk;

static void the_papers_line(void)
{
	disk_set_linear(&disk, CAPACITY, 4250000, 5250000);
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 8), 4250000);
	CHECK_EQ(disk_service_ns(&disk, CAPACITY, 0, 8), 9500000);
	CHECK_EQ(disk_service_ns(&disk, 0, CAPACITY / 2, 8), 4250000 + 2625000);
	CHECK_EQ(disk_service_ns(&disk, 5, 4, 8), 4250000);
	CHECK_EQ(disk_service_ns(&disk, 100000, 0, 8),
		 4250000 + 5250000 * 100000ull / CAPACITY);
}

static void zones(void)
{
	disk_set_linear(&disk, 1000, 10, 1000);
	disk.nr_zones = 2;
	disk.zone[0] = (struct disk_zone){ 0, 5000 };
	disk.zone[1] = (struct disk_zone){ 500, 7999 };
	CHECK_EQ(disk_check(&disk), 0);
	CHECK_EQ(disk_service_ns(&disk, 0, 0, 3), 10 + 15);
	CHECK_EQ(disk_service_ns(&disk, 499, 499, 2), 10 + 10);
	CHECK_EQ(disk_service_ns(&disk, 500, 500, 2), 10 + 15);
}

static void refused(void)
{
	disk_set_linear(&disk, 0, 1, 1);
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk_set_linear(&disk, 10, 1, 1);
	disk.nr_points = 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.nr_points = DISK_CURVE_POINTS_MAX + 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk_set_linear(&disk, 10, 1, 1);
	disk.seek[0].distance_sectors = 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk_set_linear(&disk, 10, 1, 1);
	disk.seek[1].distance_sectors = 9;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk_set_linear(&disk, 10, 1, 1);
	disk.seek[0].seek_ns = 2;
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk_set_linear(&disk, 10, 1, 1);
	disk.nr_zones = 1;
	disk.zone[0] = (struct disk_zone){ 1, 1 };
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.nr_zones = 2;
	disk.zone[0] = disk.zone[1] = (struct disk_zone){ 0, 1 };
	CHECK_EQ(disk_check(&disk), -EINVAL);
	disk.nr_zones = DISK_ZONES_MAX + 1;
	CHECK_EQ(disk_check(&disk), -EINVAL);
}

static void random_curve(struct draw *draw)
{
	u32 i;

	disk_set_linear(&disk, 0, draw_below(draw, 1000000), 0);
	disk.nr_points = 2 + draw_below(draw, 30);
	for (i = 1; i < disk.nr_points; i++) {
		disk.seek[i].distance_sectors = disk.seek[i - 1].distance_sectors + 1 +
						draw_below(draw, 1ull << 40);
		disk.seek[i].seek_ns =
			disk.seek[i - 1].seek_ns + draw_below(draw, 1000000);
	}
	disk.capacity_sectors = disk.seek[disk.nr_points - 1].distance_sectors;
	disk.nr_zones = 0;
}

/* Never less for a longer way, the same both ways, exact at the samples. */
static void monotone(struct draw *draw)
{
	u64 near, far, from;
	u32 i;

	random_curve(draw);
	CHECK_EQ(disk_check(&disk), 0);
	for (i = 0; i < disk.nr_points; i++)
		CHECK_EQ(disk_service_ns(&disk, 0, disk.seek[i].distance_sectors, 1),
			 disk.intercept_ns + disk.seek[i].seek_ns);
	for (i = 0; i < 200; i++) {
		far = draw_below(draw, disk.capacity_sectors + 1);
		near = draw_below(draw, far + 1);
		from = draw_below(draw, disk.capacity_sectors - far + 1);
		CHECK(disk_service_ns(&disk, from, from + near, 1) <=
		      disk_service_ns(&disk, from, from + far, 1));
		CHECK_EQ(disk_service_ns(&disk, from, from + far, 1),
			 disk_service_ns(&disk, from + far, from, 1));
	}
}

int main(void)
{
	the_papers_line();
	zones();
	refused();
	check_seeds(200, monotone);
	return 0;
}
