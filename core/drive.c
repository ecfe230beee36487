// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "drive.h"

/* Processes draw from the streams below, one each. */
#define PHASE_STREAM (1ull << 32)

/* What a request waits beyond half a rotation, which may be less than nothing. */
static s64 beyond_half_ns(struct drive *drive)
{
	u64 rotation_ns = drive->disk.rotation_ns;

	if (!drive->random_phase || !rotation_ns)
		return 0;
	return (s64)draw_below(&drive->phase, rotation_ns) - (s64)(rotation_ns / 2);
}

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
	service_ns = disk_service_ns(&drive->disk, drive->head, sector, sectors) +
		     beyond_half_ns(drive);
	drive->head = sector + sectors;
	return service_ns;
}

void drive_reset(struct drive *drive)
{
	drive->head = 0;
	disk_cache_clear(&drive->cache);
	draw_seed(&drive->phase, drive->seed, PHASE_STREAM);
}
