// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "positioning.h"
#include "../least.h"

/* The medium has served a request up to there, and the arm stays. */
void position_leave(struct drive *drive, u64 sector, u64 at_ns)
{
	struct buffer *buffer = &drive->buffer;

	drive->head = buffer->served = sector;
	buffer->head_ns = buffer->served_ns = at_ns;
}

/* It is less than a turn from there. */
static bool is_near(const struct drive *drive, u64 sector, u64 there)
{
	u64 first = nearer(sector, there);

	return later(sector, there) - first < disk_turn(&drive->disk, first);
}

/* What the head waits for the sector if it arrives then. */
static u64 near_latency_ns(const struct drive *drive, struct head head, u64 sector,
			   u64 arrives_ns)
{
	const struct disk *disk = &drive->disk;
	u64 rotation_ns = disk->rotation_ns;
	u64 first = nearer(sector, head.sector);
	u64 apart = later(sector, head.sector) - first;
	u64 apart_ns = disk_transfer_ns(disk, first, apart) % rotation_ns;
	u64 past_ns = arrives_ns + rotation_ns - head.there_ns;

	past_ns += sector < head.sector ? apart_ns : rotation_ns - apart_ns;
	past_ns %= rotation_ns;
	return past_ns ? rotation_ns - past_ns : 0;
}

u64 position_begin_ns(const struct drive *drive, u64 free_ns)
{
	u64 command_ns = curve_value(&drive->disk.seek, 0);

	return free_ns - nearer(command_ns, free_ns);
}

u64 position_passes_ns(const struct drive *drive, u64 sector, u64 from_ns)
{
	const struct disk *disk = &drive->disk;
	u64 angle = platter_angle(&disk->tracks, sector);

	return platter_passes_ns(&disk->tracks, angle, from_ns);
}

/* Nobody asks how long the arm takes to one whose angle would pass too late in any case. */
u64 position_soonest_ns(const struct drive *drive, u64 from, u64 place, u64 angle,
			u64 from_ns, u64 by_ns)
{
	const struct disk *disk = &drive->disk;
	u64 passes_ns = platter_passes_ns(&disk->tracks, angle, from_ns);
	u64 arrives_ns;

	if (passes_ns >= by_ns)
		return passes_ns;
	arrives_ns = from_ns + disk_move_ns(disk, from, place);
	if (arrives_ns <= passes_ns)
		return passes_ns;
	return platter_passes_ns(&disk->tracks, angle, arrives_ns);
}

/*
 * When the sector is under a head that arrives then, if that is known: by its angle, or around
 * where the head is and where it was before it read on.
 */
static bool knows_first(const struct drive *drive, struct head head, u64 sector,
			u64 arrives_ns, u64 *first_ns)
{
	struct head served = { drive->buffer.served, drive->buffer.served_ns };

	if (disk_knows_angles(&drive->disk)) {
		*first_ns = position_passes_ns(drive, sector, arrives_ns);
		return true;
	}
	if (!drive->random_phase)
		return false;
	if (!is_near(drive, sector, head.sector))
		head = served;
	if (!is_near(drive, sector, head.sector))
		return false;
	*first_ns = arrives_ns + near_latency_ns(drive, head, sector, arrives_ns);
	return true;
}

u64 position_ns(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns)
{
	struct head head = { drive->head, drive->buffer.head_ns };
	u64 arrives_ns =
		now_ns + disk_reach_ns(&drive->disk, head.sector, sector) + settle_ns;
	u64 first_ns;

	if (knows_first(drive, head, sector, arrives_ns, &first_ns))
		return first_ns;
	return arrives_ns + drive_latency_ns(drive);
}

u64 position_ready_ns(const struct drive *drive, u64 sector, u64 first_ns, u64 ready_ns)
{
	if (first_ns >= ready_ns)
		return first_ns;
	if (!disk_knows_angles(&drive->disk))
		return ready_ns;
	return position_passes_ns(drive, sector, ready_ns);
}

u64 position_estimate_ns(const struct drive *drive, struct head head, u64 sector,
			 u64 settle_ns, u64 now_ns)
{
	u64 arrives_ns =
		now_ns + disk_reach_ns(&drive->disk, head.sector, sector) + settle_ns;
	u64 first_ns;

	if (knows_first(drive, head, sector, arrives_ns, &first_ns))
		return first_ns;
	return arrives_ns + drive->disk.rotation_ns / 2;
}
