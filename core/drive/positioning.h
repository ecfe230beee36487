/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where the arm of a drive is and when its head is over a sector.  Where the platters' angles
 * are known (core/drive/platter.h), the clock says it.  Else they are known in a drive with a buffer
 * around the places where the head was last, since the time is; elsewhere latencies are drawn.
 */
#ifndef UNDERSTUDY_POSITIONING_H
#define UNDERSTUDY_POSITIONING_H

#include "drive.h"

/* Where a head is, and when it is or was there. */
struct head {
	u64 sector;
	u64 there_ns;
};

/* The medium has served a request up to there, and the arm stays. */
void position_leave(struct drive *drive, u64 sector, u64 at_ns);

/* When the sector is under the head, if the arm is free to go there; the phase moves on. */
u64 position_ns(struct drive *drive, u64 sector, u64 settle_ns, u64 now_ns);

/*
 * An arm that is free from then on, for a write to be put away or a command that has come long
 * before: when it would have had to be, for a command that has just come.  What a seek of no
 * distance takes is the command, which has to be understood.
 */
u64 position_begin_ns(const struct drive *drive, u64 free_ns);

/* When it passes a head that is there from then on; angles have to be known. */
u64 position_passes_ns(const struct drive *drive, u64 sector, u64 from_ns);

/*
 * When an angle is under a head that is free to leave its place at from_ns, an arm's way from
 * there; one that is not before by_ns: by_ns or later.  Angles have to be known.
 */
u64 position_soonest_ns(const struct drive *drive, u64 from, u64 place, u64 angle,
			u64 from_ns, u64 by_ns);

/* Positioned for first_ns, but not ready before ready_ns: when the sector is there again. */
u64 position_ready_ns(const struct drive *drive, u64 sector, u64 first_ns,
		      u64 ready_ns);

/* As position_ns from another place of the head; a latency that is not known counts half a rotation. */
u64 position_estimate_ns(const struct drive *drive, struct head head, u64 sector,
			 u64 settle_ns, u64 now_ns);

#endif
