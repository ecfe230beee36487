/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole drive: the mechanics, the on-board cache, where the head is and where
 * the platter.  The throttle in the kernel and the simulator both ask it, once for
 * each request and in the order of service, how long that request takes.
 *
 * It has one of two caches.  The papers' (core/drive/disk_cache.h, PERFORM 2010 section 3)
 * answers at once: each hit costs the same, what is read ahead is there when the miss is
 * served.  The other one, the buffer, works in time: it reads ahead (core/drive/read_ahead.h) as
 * the platter turns, also while nobody asks, and takes writes (core/drive/write_back.h).
 */
#ifndef UNDERSTUDY_DRIVE_H
#define UNDERSTUDY_DRIVE_H

#include "plan.h"

#define TRACKS_AHEAD_MAX 4096
#define TRACKS_IN_TURN_MAX 16
#define QUEUE_DEPTH_MAX 256

/**
 * drive_serve - serve one request and say what it costs
 * @drive: the drive; arm, cache and phase move on
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

/* A command that moves data: as one of these two. */
u64 drive_serve_command(struct drive *drive, const struct command *command,
			u64 start_ns, bool *hit);

/* Destage all that was written: how long that takes, ns. */
u64 drive_flush(struct drive *drive, u64 start_ns);

/* Carry out a plan of drive_plan(), whose outlook is drive_look()'s and has no sieve: as
 * drive_serve(). */
u64 drive_commit(struct drive *drive, const struct command *command,
		 const struct drive_plan *plan, u64 start_ns, bool *hit);

/* No request of that length takes longer from now on, unless settings change. */
u64 drive_slowest_ns(const struct drive *drive, u32 sectors);

/*
 * 0, or -EINVAL if the drive is not as promised here and in the files it stands on, or if it
 * would have to count more tracks than a request has time for: one with a buffer reads
 * ahead over TRACKS_AHEAD_MAX of them at most, and turns over TRACKS_IN_TURN_MAX.  Where angles
 * are known nothing is counted.
 */
int drive_check(const struct drive *drive);

/* Head to sector 0, cache empty, draws from their beginning. */
void drive_reset(struct drive *drive);

#endif
