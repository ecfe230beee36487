// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "drive.h"

u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, bool *hit)
{
	u64 service_ns;

	*hit = op == IO_READ && disk_cache_holds(&drive->cache, sector, sectors);
	if (*hit)
		return drive->hit_ns;

	if (op == IO_READ)
		disk_cache_insert(&drive->cache, sector, sectors);
	else
		disk_cache_drop(&drive->cache, sector, sectors);
	service_ns = disk_service_ns(&drive->disk, drive->head, sector, sectors);
	drive->head = sector + sectors;
	return service_ns;
}

void drive_reset(struct drive *drive)
{
	drive->head = 0;
	disk_cache_clear(&drive->cache);
}
