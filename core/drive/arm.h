/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The arm of a drive: where its head is, since when, and when the arm is free; and when a sector is
 * under the head. Where the angles of the platters are known (core/drive/platter.h), the clock
 * determines when a sector passes. Otherwise, if latencies are drawn at random, the arm remembers
 * where the head was last and when. From these it computes the latency of a nearby sector. For any
 * other sector it draws a latency, or takes half a rotation.
 */
#ifndef UNDERSTUDY_ARM_H
#define UNDERSTUDY_ARM_H

#include "disk.h"
#include "../draw.h"

/* A sector under the head, and when it is or was there. */
struct head {
	u64 sector;
	u64 there_ns;
};

/**
 * struct arm - where the arm is
 * @random_phase: 0: each request from the medium waits for half a rotation or, where angles
 *	are known, until its sector passes; else it waits for a time drawn uniformly from less than
 *	a whole rotation
 * @seed: seed of these draws, used from the next reset on
 * @phase: generator of the draws
 * @head: end of the last request that the medium served, or of the sectors read ahead
 * @served: end of the last request that the medium served, without the sectors read ahead
 * @free_ns: when the arm becomes free
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

/* Put the head at sector 0 and restart the draws. */
void arm_reset(struct arm *arm);

/* The medium has served a request up to this sector, and the arm stays there. */
void arm_leave(struct arm *arm, u64 sector, u64 at_ns);

/* How long a request waits for its sector to pass under the head, ns; advances the draws. */
u64 arm_latency_ns(struct arm *arm, const struct disk *disk);

/*
 * When the arm can start for a command that the drive already knew, or for a write to be destaged,
 * if the arm is free from free_ns on. Such a command has no command overhead, which a seek of
 * distance 0 takes. So the result is that much earlier than free_ns.
 */
u64 arm_begin_ns(const struct disk *disk, u64 free_ns);

/* When the sector is under the head if the arm may start at now_ns; advances the draws. */
u64 arm_first_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		 u64 now_ns);

/* The same; where angles are known, when the arm arrives on the track, without the latency. */
u64 arm_from_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		u64 now_ns);

/*
 * As arm_first_ns() from another place of the head; a latency that would be drawn counts as half a
 * rotation.
 */
u64 arm_estimate_ns(const struct arm *arm, const struct disk *disk, struct head head,
		    u64 sector, u64 settle_ns, u64 now_ns);

/* When the sector first passes a head that is on its track from from_ns on; needs angles. */
u64 arm_passes_ns(const struct disk *disk, u64 sector, u64 from_ns);

/*
 * When an angle is under a head that may leave its place at from_ns. If that is not before by_ns,
 * the result is by_ns or any later time. Needs angles.
 */
static inline u64 arm_soonest_ns(const struct disk *disk, u64 from, u64 place,
				 u64 angle, u64 from_ns, u64 by_ns)
{
	u64 passes_ns = platter_passes_ns(&disk->tracks, angle, from_ns);
	u64 arrives_ns;

	/* If the angle passes too late in any case, the seek need not be computed. */
	if (passes_ns >= by_ns)
		return passes_ns;
	arrives_ns = from_ns + disk_move_ns(disk, from, place);
	if (arrives_ns <= passes_ns)
		return passes_ns;
	return platter_passes_ns(&disk->tracks, angle, arrives_ns);
}

/* When a sector passes, if the head can reach it at first_ns and the data are ready at ready_ns. */
u64 arm_ready_ns(const struct disk *disk, u64 sector, u64 first_ns, u64 ready_ns);

#endif
