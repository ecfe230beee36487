/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole drive: the mechanics, the on-board cache, where the head is and where
 * the platter.  The throttle in the kernel and the simulator both ask it, once for
 * each request and in the order of service, how long that request takes.
 */
#ifndef UNDERSTUDY_DRIVE_H
#define UNDERSTUDY_DRIVE_H

#include "disk.h"
#include "disk_cache.h"
#include "draw.h"
#include "request.h"

/**
 * struct drive - a drive in motion
 * @disk: mechanics
 * @cache: the device's own cache
 * @hit_ns: service time of a read that the cache holds
 * @head: end of the last request that the medium served; a hit does not move it
 * @random_phase: 0: each request from the medium waits for half a rotation; else for
 *	a time drawn uniformly from less than a whole one
 * @seed: of these draws, from the next reset on
 * @phase: the draws
 */
struct drive {
	struct disk disk;
	struct disk_cache cache;
	u64 hit_ns;
	u64 head;
	u64 random_phase;
	u64 seed;
	struct draw phase;
};

/**
 * drive_serve - serve one request and say what it costs
 * @drive: the drive; head, cache and phase move on
 * @op: enum io_op
 * @sector: first sector
 * @sectors: length
 * @hit: set to whether the cache held it
 *
 * Returns: model service time, ns.
 */
u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, bool *hit);

/* Head to sector 0, cache empty, draws from their beginning. */
void drive_reset(struct drive *drive);

#endif
