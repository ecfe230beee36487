/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a request would wait until its first sector passes under the head, if the drive
 * began with it at a given time: what a drive that queues commands, or a scheduler that
 * knows the drive, chooses by (Worthington, Ganger and Patt 1994).
 *
 * One that the cache holds, and a write that it takes, waits for its hit.  Of a latency that
 * would be drawn the mean counts, half a rotation, and nothing is drawn.
 */
#ifndef UNDERSTUDY_ESTIMATE_H
#define UNDERSTUDY_ESTIMATE_H

#include "command.h"
#include "drive.h"
#include "positioning.h"
#include "sieve.h"

/**
 * estimate_ns - the estimate for one request
 * @drive: the drive; what has happened in its buffer up to then is computed, as the next
 *	request would have it computed.  Nothing else changes, and no request takes another
 *	time because somebody has estimated
 * @op: enum io_op
 * @sector: first sector
 * @sectors: length
 * @start_ns: as for drive_serve
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* The same for drive_serve_through. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

/*
 * For many commands at one moment: what they have in common is looked for once, and where each
 * one's sector is, once for each.
 */

/**
 * struct arm - where a drive's arm is
 * @now_ns: at that time
 * @free_ns: it is free from then on to go elsewhere
 * @head: what is under its head then
 * @place: where that is for the arm
 * @held: what the buffer may hold, or NULL: look
 */
struct arm {
	u64 now_ns;
	u64 free_ns;
	struct head head;
	u64 place;
	const struct sieve *held;
};

/* As estimate_ns(), it has the buffer's past computed. */
struct arm estimate_arm(struct drive *drive, u64 now_ns);

/* What the drive's buffer may hold, for many commands. */
struct sieve estimate_held(const struct drive *drive);

/* Find the place and the angle of a command, which has its sector. */
void estimate_aim(const struct drive *drive, struct command *command);

/*
 * When one that has them would have its first sector under the head, or its hit; one that would
 * not before by_ns: by_ns or later.
 */
u64 estimate_command_ns(const struct drive *drive, const struct arm *arm,
			const struct command *command, u64 by_ns);

#endif
