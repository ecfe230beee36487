/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive would do with a request if it began now: drive_commit() carries such a plan out.
 * Also the positioning time: when the first sector would pass under the head. A drive that queues
 * commands chooses by this time, and so does a scheduler that knows the drive (Worthington, Ganger
 * and Patt 1994).
 *
 * drive_look() advances the drive to the present, as the next request would do; no other function
 * here changes anything.
 */
#ifndef UNDERSTUDY_DRIVE_PLAN_H
#define UNDERSTUDY_DRIVE_PLAN_H

#include "command.h"
#include "parts.h"
#include "../request.h"
#include "sieve.h"

/*
 * A request without a place is NEXT. A read is HELD by a segment, by the segment being filled
 * (AHEAD), or by a pending write (WRITTEN). Or a read WAITS for sectors being read ahead, or the
 * arm goes for it (MEDIUM). A write is TAKEN at once, or needs ROOM first, or goes THROUGH to the
 * medium.
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
 * @write_first: a write that overlaps a read has to be destaged first; then the drive makes
 *	another plan
 * @segment: the segment that holds the read or its beginning, or SEGMENTS_NONE
 * @first: the sector at which the medium goes on
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
 * @until: the sector that reading ahead has reached
 * @sieve: a filter for what the buffer may hold; NULL: search the buffer
 * @free_ns: when the arm can leave for another place
 * @head: what is under its head then
 * @place: the place of the arm then
 *
 * plan_look() sets the last three, which only times need; only times need a sieve.
 */
struct drive_outlook {
	u64 now_ns;
	u64 until;
	const struct sieve *sieve;
	u64 free_ns;
	struct head head;
	u64 place;
};

/* The state of the drive at now_ns, without its arm. */
struct drive_outlook drive_look(struct drive *drive, u64 now_ns);

/* The same, without advancing the drive since the last call. */
struct drive_outlook drive_outlook(const struct drive *drive, u64 now_ns);

/* Add what the times need. */
void plan_look(const struct drive *drive, struct drive_outlook *look);

struct drive_plan drive_plan(const struct drive *drive,
			     const struct drive_outlook *look,
			     const struct command *command);

/*
 * When the first sector is under the head; for a request that needs no arm, when it completes. A
 * latency that will be drawn counts as its mean. If the time is not before by_ns, the result is
 * by_ns or any later time.
 */
u64 plan_first_ns(const struct drive *drive, const struct drive_outlook *look,
		  const struct command *command, u64 by_ns);

/* A filter for what the drive's buffer may hold. */
struct sieve plan_sieve(const struct drive *drive);

/* Set place and angle of a command, whose sector is set. */
void plan_aim(const struct drive *drive, struct command *command);

/*
 * How long a request would wait for its first sector if the drive began at start_ns. Calling this
 * changes no later service time.
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* The same for a write that goes through to the medium. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

#endif
