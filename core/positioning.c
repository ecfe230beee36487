// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "positioning.h"
#include "least.h"

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

/* What the head waits for the sector if it arrives then, and was there at that time. */
static u64 known_latency_ns(const struct drive *drive, u64 sector, u64 arrives_ns,
			    u64 there, u64 there_ns)
{
	const struct disk *disk = &drive->disk;
	u64 rotation_ns = disk->rotation_ns;
	u64 first = nearer(sector, there);
	u64 apart_ns = disk_transfer_ns(disk, first, later(sector, there) - first) %
		       rotation_ns;
	u64 past_ns = arrives_ns + rotation_ns - there_ns;

	past_ns += sector < there ? apart_ns : rotation_ns - apart_ns;
	past_ns %= rotation_ns;
	return past_ns ? rotation_ns - past_ns : 0;
}

u64 position_passes_ns(const struct drive *drive, u64 sector, u64 from_ns)
{
	const struct disk *disk = &drive->disk;
	u64 angle = platter_angle(&disk->platter, &disk->tracks, sector);

	return from_ns + platter_wait_ns(&disk->platter, angle, from_ns);
}

/* Else angles are known around where the head is, and where it was before it read on. */
static u64 latency_ns(struct drive *drive, u64 sector, u64 arrives_ns)
{
	const struct buffer *buffer = &drive->buffer;

	if (disk_knows_angles(&drive->disk))
		return position_passes_ns(drive, sector, arrives_ns) - arrives_ns;
	if (drive->random_phase && is_near(drive, sector, drive->head))
		return known_latency_ns(drive, sector, arrives_ns, drive->head,
					buffer->head_ns);
	if (drive->random_phase && is_near(drive, sector, buffer->served))
		return known_latency_ns(drive, sector, arrives_ns, buffer->served,
					buffer->served_ns);
	return drive_latency_ns(drive);
}

u64 position_before_ns(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns,
		       u64 limit_ns)
{
	u64 arrives_ns =
		now_ns + disk_reach_ns(&drive->disk, drive->head, sector) + settle_ns;

	if (arrives_ns >= limit_ns && disk_knows_angles(&drive->disk))
		return arrives_ns;
	return arrives_ns + latency_ns(drive, sector, arrives_ns);
}

u64 position_ns(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns)
{
	return position_before_ns(drive, sector, settle_ns, now_ns, U64_MAX);
}

u64 position_ready_ns(const struct drive *drive, u64 sector, u64 first_ns, u64 ready_ns)
{
	if (first_ns >= ready_ns)
		return first_ns;
	if (!disk_knows_angles(&drive->disk))
		return ready_ns;
	return position_passes_ns(drive, sector, ready_ns);
}
