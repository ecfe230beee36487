/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The arm of a drive: the position of its head and since when, when the arm is free, and when a
 * given sector is under the head. Where the angles of the platters are known
 * (core/drive/platter.h), the time alone determines when a sector passes under the head. Otherwise,
 * if latencies are random, the arm records the last sector under the head and its time, and
 * computes the latency of a nearby sector from them. For any other sector the latency is a random
 * time or half a rotation.
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
 * struct arm - the state of the arm
 * @random_phase: 0: a request from the medium waits for half a rotation or, where angles are known,
 *	until its sector passes; otherwise it waits for a uniform random time of less than a
 *	rotation
 * @seed: seed of the random times; a change takes effect at the next reset
 * @phase: generator of the random times
 * @head: end of the last request that the medium served, or of the sectors read ahead
 * @served: end of the last request that the medium served, without the sectors read ahead
 * @free_ns: when the arm becomes free
 *
 * @random_phase and @seed are parameters.
 */
struct arm {
	u64 random_phase;
	u64 seed;
	struct draw phase;
	struct head head;
	struct head served;
	u64 free_ns;
};

/* Put the head at sector 0 and restart the random generator. */
void arm_reset(struct arm *arm);

/* Record that the medium has served a request up to this sector, where the arm stays. */
void arm_leave(struct arm *arm, u64 sector, u64 at_ns);

/*
 * Return how long a request waits for its sector to pass under the head, ns: half a rotation, or a
 * random time.
 */
u64 arm_latency_ns(struct arm *arm, const struct disk *disk);

/*
 * Return when the arm can start for a command that the drive already had, or for a write to be
 * destaged, if the arm becomes free at free_ns. No command overhead applies then. The seek curve
 * contains the overhead as its value at distance 0, so the result is earlier than free_ns by that
 * value.
 */
u64 arm_begin_ns(const struct disk *disk, u64 free_ns);

/*
 * Return when the sector is under the head if the arm may start at now_ns. The random generator may
 * advance.
 */
u64 arm_first_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		 u64 now_ns);

/*
 * Like arm_first_ns(), but where angles are known, return when the arm reaches the track, without
 * the latency.
 */
u64 arm_from_ns(struct arm *arm, const struct disk *disk, u64 sector, u64 settle_ns,
		u64 now_ns);

/*
 * Like arm_first_ns(), but from a given head position. A random latency counts as half a rotation.
 */
u64 arm_estimate_ns(const struct arm *arm, const struct disk *disk, struct head head,
		    u64 sector, u64 settle_ns, u64 now_ns);

/*
 * Return when the sector first passes under a head that is on its track from from_ns on; needs
 * angles.
 */
u64 arm_passes_ns(const struct disk *disk, u64 sector, u64 from_ns);

/*
 * Return when an angle is under a head that may leave its track at from_ns. If that time is by_ns
 * or later, the result may be any time from by_ns on. Needs angles.
 */
static inline u64 arm_soonest_ns(const struct disk *disk, u64 from, u64 place,
				 u64 angle, u64 from_ns, u64 by_ns)
{
	u64 passes_ns = platter_passes_ns(&disk->tracks, angle, from_ns);
	u64 arrives_ns;

	/* If the angle passes too late even without a seek, the seek need not be computed. */
	if (passes_ns >= by_ns)
		return passes_ns;
	arrives_ns = from_ns + disk_move_ns(disk, from, place);
	if (arrives_ns <= passes_ns)
		return passes_ns;
	return platter_passes_ns(&disk->tracks, angle, arrives_ns);
}

/*
 * Return when a sector passes, if the head can be over the sector at first_ns and the sector's data
 * are ready at ready_ns.
 */
u64 arm_ready_ns(const struct disk *disk, u64 sector, u64 first_ns, u64 ready_ns);

#endif
