/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive would do with a request if it began with it now, and when the first sector would
 * pass under its head: what drive_commit() carries out, and what a drive that queues commands, or a
 * scheduler that knows the drive, chooses by (Worthington, Ganger and Patt 1994).
 *
 * drive_look() computes what has happened in the drive until now, as the next request would have it
 * computed; a plan changes nothing.  Of a latency that will be drawn it has the mean.
 */
#ifndef UNDERSTUDY_DRIVE_PLAN_H
#define UNDERSTUDY_DRIVE_PLAN_H

#include "command.h"
#include "parts.h"
#include "../request.h"
#include "sieve.h"

/*
 * A request that has no place is next.  A read is HELD by a segment, by the one that is being
 * filled (AHEAD), or by a write that waits (WRITTEN); it WAITS for what is being read ahead; or
 * the arm goes for all of it, or the rest (MEDIUM).  A write that waits, or is on its way to the
 * medium, and overlaps it goes there FIRST.  A write is TAKEN, or goes THROUGH to the medium.
 */
enum plan_kind {
	PLAN_NEXT,
	PLAN_HELD,
	PLAN_AHEAD,
	PLAN_WRITTEN,
	PLAN_WAITS,
	PLAN_MEDIUM,
	PLAN_FIRST,
	PLAN_TAKEN,
	PLAN_THROUGH,
};

/**
 * struct drive_plan - what would happen
 * @kind: enum plan_kind
 * @segment: it holds the read, or its beginning, or SEGMENTS_NONE
 * @first: the sector that the medium begins with
 * @first_ns: when that is under the head; of what takes no arm, when it is complete
 */
struct drive_plan {
	u32 kind;
	u32 segment;
	u64 first;
	u64 first_ns;
};

/**
 * struct drive_outlook - what all plans at one moment have in common
 * @now_ns: the moment
 * @free_ns: the arm is free from then on to go elsewhere
 * @head: what is under its head then
 * @place: where that is for the arm
 * @until: reading ahead has come there
 * @sieve: for many commands, each of which plan_aim() has seen: what the buffer may hold.  Then a
 *	plan's @first_ns is right, and its kind need not be
 */
struct drive_outlook {
	u64 now_ns;
	u64 free_ns;
	struct head head;
	u64 place;
	u64 until;
	const struct sieve *sieve;
};

/* How the drive stands then; nothing is computed but what has happened. */
struct drive_outlook drive_look(struct drive *drive, u64 now_ns);

/* The same without a look at what has happened since the last one. */
struct drive_outlook drive_outlook_at(const struct drive *drive, u64 now_ns);

/* One that would not have its first sector before by_ns: @first_ns is by_ns or later. */
struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command, u64 by_ns);

/* What the drive's buffer may hold. */
struct sieve plan_sieve(const struct drive *drive);

/* Find the place and the angle of a command, which has its sector. */
void plan_aim(const struct drive *drive, struct command *command);

/*
 * How long a request would wait for its first sector if the drive began with it at start_ns.  No
 * request takes another time because somebody has asked.
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* The same for a write that is to be on the medium. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

#endif
