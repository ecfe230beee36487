/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole drive: the mechanics, the on-board cache, and the current positions of head and platter.
 * The throttle in the kernel and the simulator both call the drive once for each request, in the
 * order of service, to compute the request's service time.
 *
 * A drive has one of two caches. The papers' cache (core/drive/disk_cache.h, PERFORM 2010 section
 * 3) models no timing: every hit takes the same time, and the sectors read ahead are in the cache
 * as soon as the miss is served. The other cache, the buffer, models timing: it reads ahead
 * (core/drive/read_ahead.h) as the platter turns, also while the drive is idle, and accepts writes
 * (core/drive/write_back.h).
 */
#ifndef UNDERSTUDY_DRIVE_H
#define UNDERSTUDY_DRIVE_H

#include "plan.h"

#define TRACKS_AHEAD_MAX 4096
#define TRACKS_IN_TURN_MAX 16
#define QUEUE_DEPTH_MAX 256

/**
 * drive_serve - serve one request and return its service time
 * @drive: the drive; the call updates its arm, cache and random generator
 * @op: enum io_op
 * @sector: first sector
 * @sectors: number of sectors
 * @start_ns: when service begins, on the caller's clock; not before the previous request
 *	completed. A drive without a buffer and without angles ignores it
 * @hit: set to true if the cache held the request, otherwise to false
 *
 * Returns: service time of the model, ns.
 */
u64 drive_serve(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns,
		bool *hit);

/* Serve a write that must be on the medium when it completes (FUA). */
u64 drive_serve_through(struct drive *drive, u64 sector, u32 sectors, u64 start_ns);

/*
 * Serve a command that moves data like drive_serve() or, if @through is set, like
 * drive_serve_through().
 */
u64 drive_serve_command(struct drive *drive, const struct command *command,
			u64 start_ns, bool *hit);

/* Destage all data written; returns how long that takes, ns. */
u64 drive_flush(struct drive *drive, u64 start_ns);

/*
 * Serve a request like drive_serve(), but by this plan. drive_plan() must have made the plan from
 * an outlook that drive_look() returned and that has no sieve.
 */
u64 drive_commit(struct drive *drive, const struct command *command,
		 const struct drive_plan *plan, u64 start_ns, bool *hit);

/* Return the longest service time of a request of this length, with the current settings. */
u64 drive_slowest_ns(const struct drive *drive, u32 sectors);

/*
 * Return 0, or -EINVAL if the drive violates a condition stated in this file or in the files of its
 * parts, or if one request could require counting too many tracks. A drive with a buffer must read
 * ahead over at most TRACKS_AHEAD_MAX tracks, and at most TRACKS_IN_TURN_MAX tracks may pass in a
 * rotation. Where angles are known, no tracks are counted.
 */
int drive_check(const struct drive *drive);

/* Put the head at sector 0, empty the cache and restart the random generator. */
void drive_reset(struct drive *drive);

#endif
