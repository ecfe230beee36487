/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * When each sector of a layout (tracks.h) passes under the head: the rotational position
 * (Worthington, Ganger, Patt and Wilkes 1995).
 *
 * An angle is a u64 in units of 2^-64 turns: sums and products wrap around as turns do. The
 * platters are at angle 0 when the caller's clock is 0. One multiplication converts a time to an
 * angle, so rounding errors do not accumulate. The computed time at which an angle passes is less
 * than a ns too early, however long the platters have turned.
 *
 * A skew separates the end of a track's last sector from the beginning of the next track's first
 * sector. This skew has one size within a cylinder, another after the last track of a cylinder, and
 * a third after the last track of a band.
 */
#ifndef UNDERSTUDY_PLATTER_H
#define UNDERSTUDY_PLATTER_H

#include "tracks.h"

#define PLATTER_TURN_NS_MAX 1000000000ull /* 60 rpm */
#define PLATTER_SLOT_MIN (1ull << 40) /* 2^-64 rotations: 2^24 sectors a track */

/*
 * Return 0, or -EINVAL if the angles do not fit this rotation time or a track is longer than a
 * rotation.
 */
int platter_check(const struct tracks *tracks, u64 rotation_ns);

/* Return the angle at which the sector begins. */
u64 platter_angle(const struct tracks *tracks, u64 sector);

/*
 * Return when the angle first passes under a head that is on the track from from_ns on; monotonic
 * in from_ns.
 */
u64 platter_passes_ns(const struct tracks *tracks, u64 angle, u64 from_ns);

/*
 * Return when all these sectors have passed, if the head can begin with the first at from_ns. The
 * move from the last sector of a zone to the next zone takes at least switch_ns.
 */
u64 platter_end_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns);

/*
 * Return when these sectors have been sent over a bus that needs bus_ps for each sector, if the
 * first begins at begins_ns.
 */
static inline u64 over_bus_ns(u64 begins_ns, u64 sectors, u64 bus_ps)
{
	return begins_ns + port_mul_div(sectors, bus_ps, 1000);
}

/*
 * Return the time at which the last of these sectors has been sent over a bus that needs bus_ps
 * for each sector. The bus cannot send a sector before that sector has passed, so even a bus slower
 * than the medium may wait while heads are switched. Set *last_ns to the time at which all the
 * sectors have passed.
 */
u64 platter_sent_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns, u64 bus_ps, u64 *last_ns);

/*
 * Return when the sector after these begins to pass; the arguments are those of platter_end_ns().
 * That sector must be on the disk.
 */
u64 platter_next_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns);

/* Return how many of these sectors have passed at now_ns. */
u64 platter_passed(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns, u64 now_ns);

/* Return the longest time that a sector needs to pass, ns. */
u64 platter_slowest_ns(const struct tracks *tracks);

#endif
