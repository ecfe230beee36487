// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "disk.h"

void disk_set_linear(struct disk *disk, u64 capacity_sectors, u64 intercept_ns,
		     u64 full_seek_ns)
{
	disk->capacity_sectors = capacity_sectors;
	disk->intercept_ns = intercept_ns;
	disk->rotation_ns = 0;
	disk->seek.nr_points = 2;
	disk->seek.point[0] = (struct curve_point){ 0, 0 };
	disk->seek.point[1] = (struct curve_point){ capacity_sectors, full_seek_ns };
	disk->transfer.nr_points = 0;
}

int disk_check(const struct disk *disk)
{
	u64 end = disk->capacity_sectors;

	if (disk->intercept_ns > DISK_NS_MAX || disk->rotation_ns > DISK_NS_MAX)
		return -EINVAL;
	if (curve_check(&disk->seek, end, DISK_NS_MAX))
		return -EINVAL;
	if (!disk->transfer.nr_points)
		return 0;
	return curve_check(&disk->transfer, end, DISK_SECTOR_PS_MAX);
}

static u64 transfer_ns(const struct disk *disk, u64 sector, u32 sectors)
{
	if (!disk->transfer.nr_points)
		return 0;
	return port_mul_div(curve_value(&disk->transfer, sector), sectors, 1000);
}

u64 disk_service_ns(const struct disk *disk, u64 head, u64 sector, u32 sectors)
{
	u64 distance = sector > head ? sector - head : head - sector;

	return disk->intercept_ns + curve_value(&disk->seek, distance) +
	       disk->rotation_ns / 2 + transfer_ns(disk, sector, sectors);
}

u64 disk_slowest_ns(const struct disk *disk, u32 sectors)
{
	return disk->intercept_ns + curve_max(&disk->seek) + disk->rotation_ns +
	       port_mul_div(curve_max(&disk->transfer), sectors, 1000);
}
