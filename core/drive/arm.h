/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The arm of a drive: where its head is, since when, and when it is free; and when the head is
 * over a sector.  Where the platters' angles are known (core/drive/platter.h), the clock says that.
 * Else they are known around the places where the head was last, since the time is, if latencies
 * are drawn; elsewhere a latency is drawn, or half a rotation.
 */
#ifndef UNDERSTUDY_ARM_H
#define UNDERSTUDY_ARM_H

#include "disk.h"
#include "../draw.h"

/* What is under a head, and when it is or was there. */
struct head {
	u64 sector;
	u64 there_ns;
};

/**
 * struct arm - where it is
 * @random_phase: 0: each request from the medium waits for half a rotation, or, where angles
 *	are known, until its sector comes by; else for a time drawn uniformly from less than a
 *	whole rotation
 * @seed: of these draws, from the next reset on
 * @phase: the draws
 * @head: end of the last request that the medium served, or of what was read ahead
 * @served: end of the last request that the medium served, without what was read ahead
 * @free_ns: it is free from then on
 *
 * The first two are parameters.
 */
struct arm {
	u64 random_phase;
	u64 seed;
	struct draw phase;
	struct head head;
	struct head served;
	u64 free_ns;
};

/* At sector 0, and draws from their beginning. */
void arm_reset(struct arm *arm);

/* The medium has served a request up to there, and the arm stays. */
void arm_leave(struct arm *arm, u64 sector, u64 at_ns);

/* What a request waits for its sector to come by, ns; the phase moves on. */
u64 arm_latency_ns(struct arm *arm, const struct disk *disk);

/*
 * For a write to be destaged or a command that has come long before, to an arm that is free from
 * then on: when it would have had to be, for a command that has just come.  What a seek of no
 * distance takes is the command, which has to be understood.
 */
u64 arm_begin_ns(const struct disk *disk, u64 free_ns);

/* When the sector is under the head, if the arm is free to go there at now_ns; the phase moves on. */
u64 arm_first_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		 u64 now_ns);

/* The same, or, where angles are known, when the arm arrives: sectors pass no other way from then on. */
u64 arm_from_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		u64 now_ns);

/* As arm_first_ns from another place of the head; a latency that would be drawn counts half a
 * rotation. */
u64 arm_estimate_ns(const struct arm *arm, const struct disk *disk, struct head head,
		    u64 sector, u64 settle_ns, u64 now_ns);

/* When it passes a head that is there from then on; angles have to be known. */
u64 arm_passes_ns(const struct disk *disk, u64 sector, u64 from_ns);

/*
 * When an angle is under a head that is free to leave its place at from_ns, an arm's way from
 * there; one that is not before by_ns: by_ns or later.  Angles have to be known.
 */
static inline u64 arm_soonest_ns(const struct disk *disk, u64 from, u64 place,
				 u64 angle, u64 from_ns, u64 by_ns)
{
	u64 passes_ns = platter_passes_ns(&disk->tracks, angle, from_ns);
	u64 arrives_ns;

	/* Nobody asks how long the arm takes to one that would pass too late in any case. */
	if (passes_ns >= by_ns)
		return passes_ns;
	arrives_ns = from_ns + disk_move_ns(disk, from, place);
	if (arrives_ns <= passes_ns)
		return passes_ns;
	return platter_passes_ns(&disk->tracks, angle, arrives_ns);
}

/* Positioned for first_ns, but not ready before ready_ns: when the sector is there again. */
u64 arm_ready_ns(const struct disk *disk, u64 sector, u64 first_ns, u64 ready_ns);

#endif
