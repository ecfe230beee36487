/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A plan is what a drive would do with a request if it began the request now; drive_commit()
 * carries out the plan. This file also computes positioning times: the time until the first sector
 * of a request is under the head. A drive with a command queue chooses by positioning time, and so
 * does a scheduler that has a model of the drive (Worthington, Ganger and Patt 1994).
 *
 * drive_look() advances the drive to the current time, as the next request would do; no other
 * function in this file changes the drive.
 */
#ifndef UNDERSTUDY_DRIVE_PLAN_H
#define UNDERSTUDY_DRIVE_PLAN_H

#include "command.h"
#include "parts.h"
#include "../request.h"
#include "sieve.h"

/*
 * The kinds of plans. A command without a sector has the plan NEXT. A read is in a segment that is
 * not being filled (HELD), in the segment being filled (AHEAD), or in a pending write (WRITTEN).
 * Otherwise the read WAITS for sectors being read ahead, or is served from the MEDIUM. A write is
 * TAKEN into the cache at once, or needs ROOM in the cache first, or goes THROUGH to the medium.
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
 * @write_first: a pending write overlaps the read and must be destaged first; the drive then makes
 *	a new plan
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
 * @free_ns: when the arm can leave its position
 * @head: the position of the head when the arm leaves
 * @place: the arm position for @head
 *
 * Only the functions that compute positioning times use @sieve, @free_ns, @head and @place.
 * plan_look() sets the last three of these.
 */
struct drive_outlook {
	u64 now_ns;
	u64 until;
	const struct sieve *sieve;
	u64 free_ns;
	struct head head;
	u64 place;
};

/* Advance the drive to now_ns and return its state, without the members that plan_look() sets. */
struct drive_outlook drive_look(struct drive *drive, u64 now_ns);

/* Like drive_look(), but without advancing the drive. */
struct drive_outlook drive_outlook(const struct drive *drive, u64 now_ns);

/* Set @free_ns, @head and @place of the outlook. */
void plan_look(const struct drive *drive, struct drive_outlook *look);

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command);

/*
 * Return when the first sector is under the head or, for a request that does not need the arm, when
 * the request completes. A random latency counts as its mean. If that time is by_ns or later, the
 * result may be any time from by_ns on.
 */
u64 plan_first_ns(const struct drive *drive, const struct drive_outlook *look,
		  const struct command *command, u64 by_ns);

/* Return a filter for the sectors that the drive's buffer may hold. */
struct sieve plan_sieve(const struct drive *drive);

/* Set the members place and angle of a command whose sector is set. */
void plan_aim(const struct drive *drive, struct command *command);

/*
 * Return how long a request would wait for its first sector if the drive began it at start_ns. The
 * call does not change any later service time.
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* Like estimate_ns(), for a write that goes through to the medium. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

#endif
