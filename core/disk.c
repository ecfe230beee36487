// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "disk.h"

void disk_set_linear(struct disk *disk, u64 capacity_sectors, u64 intercept_ns,
		     u64 full_seek_ns)
{
	disk->capacity_sectors = capacity_sectors;
	disk->intercept_ns = intercept_ns;
	disk->nr_points = 2;
	disk->seek[0] = (struct disk_curve_point){ 0, 0 };
	disk->seek[1] = (struct disk_curve_point){ capacity_sectors, full_seek_ns };
	disk->nr_zones = 0;
}

static int check_curve(const struct disk *disk)
{
	const struct disk_curve_point *point = disk->seek;
	u32 last = disk->nr_points - 1;
	u32 i;

	if (disk->nr_points < 2 || disk->nr_points > DISK_CURVE_POINTS_MAX)
		return -EINVAL;
	if (point[0].distance_sectors != 0 ||
	    point[last].distance_sectors != disk->capacity_sectors)
		return -EINVAL;
	for (i = 1; i <= last; i++) {
		if (point[i].distance_sectors <= point[i - 1].distance_sectors ||
		    point[i].seek_ns < point[i - 1].seek_ns)
			return -EINVAL;
	}
	return 0;
}

static int check_zones(const struct disk *disk)
{
	u32 i;

	if (disk->nr_zones > DISK_ZONES_MAX)
		return -EINVAL;
	if (disk->nr_zones && disk->zone[0].first_sector != 0)
		return -EINVAL;
	for (i = 1; i < disk->nr_zones; i++) {
		if (disk->zone[i].first_sector <= disk->zone[i - 1].first_sector)
			return -EINVAL;
	}
	return 0;
}

int disk_check(const struct disk *disk)
{
	if (!disk->capacity_sectors)
		return -EINVAL;
	return check_curve(disk) ?: check_zones(disk);
}

static u64 seek_ns(const struct disk *disk, u64 distance)
{
	const struct disk_curve_point *low = disk->seek;
	const struct disk_curve_point *high = disk->seek + disk->nr_points - 1;

	while (high - low > 1) {
		const struct disk_curve_point *middle = low + (high - low) / 2;

		if (middle->distance_sectors <= distance)
			low = middle;
		else
			high = middle;
	}
	return low->seek_ns +
	       port_mul_div(high->seek_ns - low->seek_ns,
			    distance - low->distance_sectors,
			    high->distance_sectors - low->distance_sectors);
}

static u64 transfer_ns(const struct disk *disk, u64 sector, u32 sectors)
{
	u32 i = disk->nr_zones;

	while (i && disk->zone[i - 1].first_sector > sector)
		i--;
	return i ? port_mul_div(disk->zone[i - 1].sector_ps, sectors, 1000) : 0;
}

u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors)
{
	u64 distance = sector > head ? sector - head : head - sector;

	return disk->intercept_ns + seek_ns(disk, distance) +
	       transfer_ns(disk, sector, sectors);
}
