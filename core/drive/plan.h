/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive would do with a request if it began with it now: what drive_commit() carries out.
 * And when the first sector would pass under its head: what a drive that queues commands, or a
 * scheduler that knows the drive, chooses by (Worthington, Ganger and Patt 1994).
 *
 * drive_look() computes what has happened in the drive until now, as the next request would have it
 * computed; nothing else here changes anything.
 */
#ifndef UNDERSTUDY_DRIVE_PLAN_H
#define UNDERSTUDY_DRIVE_PLAN_H

#include "command.h"
#include "parts.h"
#include "../request.h"
#include "sieve.h"

/*
 * A request that has no place is NEXT.  A read is HELD by a segment, by the one that is being
 * filled (AHEAD), or by a write that waits (WRITTEN); it WAITS for what is being read ahead; or
 * the arm goes for it (MEDIUM).  A write is TAKEN, or first has to have ROOM, or goes THROUGH to
 * the medium.
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
 * struct drive_plan - what would happen
 * @kind: enum plan_kind
 * @write_first: a write that overlaps a read, and waits or is on its way to the medium, goes there
 *	first; then there is another plan
 * @segment: it holds the read, or its beginning, or SEGMENTS_NONE
 * @first: the sector that the medium goes on with
 */
struct drive_plan {
	u16 kind;
	bool write_first;
	u32 segment;
	u64 first;
};

/**
 * struct drive_outlook - what all plans at one moment have in common
 * @now_ns: the moment
 * @until: reading ahead has come there
 * @sieve: what the buffer may hold, or NULL: look
 * @free_ns: the arm is free from then on to go elsewhere
 * @head: what is under its head then
 * @place: where that is for the arm
 *
 * The last three, which plan_look() finds, are for times, and only those need a sieve.
 */
struct drive_outlook {
	u64 now_ns;
	u64 until;
	const struct sieve *sieve;
	u64 free_ns;
	struct head head;
	u64 place;
};

/* How the drive stands then, but for its arm. */
struct drive_outlook drive_look(struct drive *drive, u64 now_ns);

/* The same without what has happened since the last one. */
struct drive_outlook drive_outlook(const struct drive *drive, u64 now_ns);

/* And for times. */
void plan_look(const struct drive *drive, struct drive_outlook *look);

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command);

/*
 * When the first sector is under the head; of what takes no arm, when it is complete.  Of a latency
 * that will be drawn the mean counts.  One that is not before by_ns: by_ns or later.
 */
u64 plan_first_ns(const struct drive *drive, const struct drive_outlook *look,
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
