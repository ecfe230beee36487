// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "arm.h"
#include "../least.h"

/* random stream of the arm's latencies; processes use the streams with lower numbers */
#define PHASE_STREAM (1ull << 32)

void arm_reset(struct arm *arm)
{
	arm_leave(arm, 0, 0);
	draw_seed(&arm->phase, arm->seed, PHASE_STREAM);
}

void arm_leave(struct arm *arm, u64 sector, u64 at_ns)
{
	arm->head = arm->served = (struct head){ sector, at_ns };
	arm->free_ns = at_ns;
}

u64 arm_latency_ns(struct arm *arm, const struct disk *disk)
{
	if (!arm->random_phase || !disk->rotation_ns)
		return disk->rotation_ns / 2;
	return draw_below(&arm->phase, disk->rotation_ns);
}

u64 arm_begin_ns(const struct disk *disk, u64 free_ns)
{
	return free_ns - nearer(disk->seek.point[0].value, free_ns);
}

u64 arm_passes_ns(const struct disk *disk, u64 sector, u64 from_ns)
{
	const struct tracks *tracks = &disk->tracks;

	return platter_passes_ns(tracks, platter_angle(tracks, sector), from_ns);
}

u64 arm_ready_ns(const struct disk *disk, u64 sector, u64 first_ns, u64 ready_ns)
{
	if (first_ns >= ready_ns)
		return first_ns;
	if (!disk_knows_angles(disk))
		return ready_ns;
	return arm_passes_ns(disk, sector, ready_ns);
}

/* Return whether the sectors between `sector` and `there` pass in less than a rotation. */
static bool is_near(const struct disk *disk, u64 sector, u64 there)
{
	u64 first = nearer(sector, there);

	return later(sector, there) - first < disk_turn(disk, first);
}

/* Return how long the head waits for the sector if the head arrives at the track at arrives_ns. */
static u64 near_latency_ns(const struct disk *disk, struct head head, u64 sector,
			   u64 arrives_ns)
{
	u64 rotation_ns = disk->rotation_ns;
	u64 first = nearer(sector, head.sector);
	u64 apart = later(sector, head.sector) - first;
	u64 apart_ns = disk_transfer_ns(disk, first, apart) % rotation_ns;
	u64 past_ns = arrives_ns + rotation_ns - head.there_ns;

	past_ns += sector < head.sector ? apart_ns : rotation_ns - apart_ns;
	past_ns %= rotation_ns;
	return past_ns ? rotation_ns - past_ns : 0;
}

/*
 * Compute a latency without angles. This is possible only for a sector near the head, or near the
 * head's position before it read ahead; return false for any other sector.
 */
static bool knows_latency(const struct arm *arm, const struct disk *disk,
			  struct head head, u64 sector, u64 arrives_ns, u64 *latency_ns)
{
	if (!arm->random_phase)
		return false;
	if (!is_near(disk, sector, head.sector))
		head = arm->served;
	if (!is_near(disk, sector, head.sector))
		return false;
	*latency_ns = near_latency_ns(disk, head, sector, arrives_ns);
	return true;
}

u64 arm_from_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		u64 now_ns)
{
	u64 arrives_ns =
		now_ns + disk_reach_ns(disk, arm->head.sector, sector) + settle_ns;
	u64 latency_ns;

	if (disk_knows_angles(disk))
		return arrives_ns;
	if (!knows_latency(arm, disk, arm->head, sector, arrives_ns, &latency_ns))
		latency_ns = arm_latency_ns(arm, disk);
	return arrives_ns + latency_ns;
}

u64 arm_first_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		 u64 now_ns)
{
	u64 from_ns = arm_from_ns(arm, disk, sector, settle_ns, now_ns);

	return disk_knows_angles(disk) ? arm_passes_ns(disk, sector, from_ns) : from_ns;
}

u64 arm_estimate_ns(const struct arm *arm, const struct disk *disk, struct head head,
		    u64 sector, u64 settle_ns, u64 now_ns)
{
	u64 arrives_ns = now_ns + disk_reach_ns(disk, head.sector, sector) + settle_ns;
	u64 latency_ns;

	if (disk_knows_angles(disk))
		return arm_passes_ns(disk, sector, arrives_ns);
	if (!knows_latency(arm, disk, head, sector, arrives_ns, &latency_ns))
		latency_ns = disk->rotation_ns / 2;
	return arrives_ns + latency_ns;
}
