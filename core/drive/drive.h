/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole drive: the mechanics, the on-board cache, where the head is and where
 * the platter.  The throttle in the kernel and the simulator both ask it, once for
 * each request and in the order of service, how long that request takes.
 *
 * It has one of two caches.  The papers' (core/drive/disk_cache.h, PERFORM 2010 section 3)
 * answers at once: each hit costs the same, what is read ahead is there when the miss is
 * served.  The other one, the buffer (core/drive/buffer.h), works in time: it reads ahead as
 * the platter turns, also while nobody asks, and takes writes.
 */
#ifndef UNDERSTUDY_DRIVE_H
#define UNDERSTUDY_DRIVE_H

#include "buffer.h"
#include "disk.h"
#include "disk_cache.h"
#include "../draw.h"
#include "../request.h"

#define TRACKS_AHEAD_MAX 4096
#define TRACKS_IN_TURN_MAX 16
#define QUEUE_DEPTH_MAX 256

/**
 * struct drive - a drive in motion
 * @disk: mechanics
 * @cache: the papers' cache
 * @hit_ns: service time of a read that the cache holds; with a buffer, without its
 *	transfer over the bus
 * @buffered: it has a buffer, and @cache is not looked at
 * @buffer: the buffer
 * @head: end of the last request that the medium served; a hit does not move it
 * @random_phase: 0: each request from the medium waits for half a rotation, or, where angles
 *	are known (core/drive/platter.h), until its sector comes by; else for a time drawn
 *	uniformly from less than a whole rotation
 * @seed: of these draws, from the next reset on
 * @phase: the draws
 * @queue_depth: among so many that wait it chooses (core/drive/command_queue.h), up to
 *	QUEUE_DEPTH_MAX; 0 or 1: it takes them in the order in which they came
 * @queue_age_ns: one that has waited for so long goes before all others
 */
struct drive {
	struct disk disk;
	struct disk_cache cache;
	u64 hit_ns;
	u64 buffered;
	struct buffer buffer;
	u64 head;
	u64 random_phase;
	u64 seed;
	struct draw phase;
	u64 queue_depth;
	u64 queue_age_ns;
};

/**
 * drive_serve - serve one request and say what it costs
 * @drive: the drive; head, cache and phase move on
 * @op: enum io_op
 * @sector: first sector
 * @sectors: length
 * @start_ns: when it begins with it, on a clock of the caller's; not before the last one
 *	was complete.  A drive that has no buffer and no angles does not look at it
 * @hit: set to whether the cache held it
 *
 * Returns: model service time, ns.
 */
u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns,
		bool *hit);

/* A write that is to be on the medium when it is complete (FUA). */
u64 drive_serve_through(struct drive *drive, u64 sector, u32 sectors, u64 start_ns);

/* Put away all that was written: how long that takes, ns. */
u64 drive_flush(struct drive *drive, u64 start_ns);

/* No request of that length takes longer from now on, unless settings change. */
u64 drive_slowest_ns(const struct drive *drive, u32 sectors);

/*
 * 0, or -EINVAL if the drive is not as promised here and in the files it stands on, or if it
 * would have to count more tracks than a request has time for: one with a buffer reads
 * ahead over TRACKS_AHEAD_MAX of them at most, and turns over TRACKS_IN_TURN_MAX.  Where angles
 * are known nothing is counted.
 */
int drive_check(const struct drive *drive);

/* What a request waits for its sector to come by, ns; the phase moves on. */
u64 drive_latency_ns(struct drive *drive);

/* Head to sector 0, cache empty, draws from their beginning. */
void drive_reset(struct drive *drive);

#endif
