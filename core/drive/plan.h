/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A plan is what a drive would do with a request if it began with that request now; drive_commit()
 * carries it out. This file also computes positioning times: how long it would take until the first
 * sector is under the head. A drive that queues commands chooses by this time, and so does a
 * scheduler that has a model of the drive (Worthington, Ganger and Patt 1994).
 *
 * drive_look() advances the drive to the present, as the next request would do; no other function
 * in this file changes the drive.
 */
#ifndef UNDERSTUDY_DRIVE_PLAN_H
#define UNDERSTUDY_DRIVE_PLAN_H

#include "command.h"
#include "parts.h"
#include "../request.h"
#include "sieve.h"

/*
 * The kinds of plans. A command without a sector is NEXT. A read is in a segment that is not being
 * filled (HELD), in the segment being filled (AHEAD), or in a pending write (WRITTEN). Otherwise
 * the read WAITS for sectors being read ahead, or is served from the MEDIUM. A write is TAKEN into
 * the cache at once, or needs ROOM in the cache first, or goes THROUGH to the medium.
 */
enum plan_kind {
	PLAN_NEXT,
	PLAN_HELD,
	PLAN_AHEAD,
	PLAN_WRITTEN,
	PLAN_WAITS,
	PLAN_MEDIUM,
	PLAN_TAKEN,
	PLAN_ROOM,
	PLAN_THROUGH,
};

/**
 * struct drive_plan - what the drive would do
 * @kind: enum plan_kind
 * @write_first: a pending write that overlaps the read must be destaged first; then the drive makes
 *	another plan
 * @segment: the segment that holds the read or its beginning, or SEGMENTS_NONE
 * @first: the first sector that is still to be read from the medium
 */
struct drive_plan {
	u16 kind;
	bool write_first;
	u32 segment;
	u64 first;
};

/**
 * struct drive_outlook - the state of the drive at one time, common to all plans made for that time
 * @now_ns: that time
 * @until: the sector that reading ahead has reached
 * @sieve: a filter for the sectors that the buffer may hold; NULL: always search the buffer
 * @free_ns: when the arm can leave
 * @head: the head at that time
 * @place: the arm position at that time
 *
 * Only the functions that compute positioning times use @sieve and the last three members;
 * plan_look() sets those three.
 */
struct drive_outlook {
	u64 now_ns;
	u64 until;
	const struct sieve *sieve;
	u64 free_ns;
	struct head head;
	u64 place;
};

/* The state of the drive at now_ns, without its arm; advances the drive to now_ns. */
struct drive_outlook drive_look(struct drive *drive, u64 now_ns);

/* The same, without advancing the drive since the last call. */
struct drive_outlook drive_outlook(const struct drive *drive, u64 now_ns);

/* Set the last three members of the outlook. */
void plan_look(const struct drive *drive, struct drive_outlook *look);

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command);

/*
 * When the first sector is under the head; for a request that does not need the arm, when it
 * completes. A latency that will be sampled at random counts as its mean. If the time is not before
 * by_ns, the result is by_ns or any later time.
 */
u64 plan_first_ns(const struct drive *drive, const struct drive_outlook *look,
		  const struct command *command, u64 by_ns);

/* A filter for the sectors that the drive's buffer may hold. */
struct sieve plan_sieve(const struct drive *drive);

/* Set @place and @angle of a command, whose @sector is set. */
void plan_aim(const struct drive *drive, struct command *command);

/*
 * How long a request would wait for its first sector if the drive began with it at start_ns. A call
 * does not change any later service time.
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* The same for a write that goes through to the medium. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

#endif
