/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * When each sector of a layout (tracks.h) passes under the head: the rotational position
 * (Worthington, Ganger, Patt and Wilkes 1995).
 *
 * An angle is a u64 in units of 2^-64 turns: sums and products wrap around as turns do.  The
 * platters turn with the clock of who asks, at angle 0 at its time 0; one multiplication
 * makes an angle of a time, so that no rounding accumulates: what is said to be at a
 * sector is there less than a ns later, however long the platters have turned.
 *
 * From the end of a track's last sector to the beginning of the next track's first one it is a
 * skew; another one after each cylinder of tracks, and a third one after each band of those.
 */
#ifndef UNDERSTUDY_PLATTER_H
#define UNDERSTUDY_PLATTER_H

#include "tracks.h"

#define PLATTER_TURN_NS_MAX 1000000000ull /* 60 rpm */
#define PLATTER_SLOT_MIN (1ull << 40) /* of a turn: 2^24 on a track */

/* 0, or -EINVAL if the angles are not of that period or tracks too long for a turn. */
int platter_check(const struct tracks *tracks, u64 rotation_ns);

/* Where the sector begins. */
u64 platter_angle(const struct tracks *tracks, u64 sector);

/* When that angle passes a head that is there from then on; later for a later head. */
u64 platter_passes_ns(const struct tracks *tracks, u64 angle, u64 from_ns);

/*
 * When sectors have passed, if the head may begin with the first of them at from_ns.  It is
 * switch_ns at least from the last one of a zone to the next zone.
 */
u64 platter_end_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns);

/* When sectors are over a bus that takes so many ps for each, if the first begins then. */
static inline u64 over_bus_ns(u64 begins_ns, u64 sectors, u64 bus_ps)
{
	return begins_ns + port_mul_div(sectors, bus_ps, 1000);
}

/*
 * When the last one is over a bus that takes so many ps for a sector, and has none to send before
 * it passes: one that is slower than the medium waits while heads are switched.  last_ns: when
 * they have passed.
 */
u64 platter_sent_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns, u64 bus_ps, u64 *last_ns);

/* When the sector behind these begins to pass, which is not the disk's end; as above. */
u64 platter_next_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns);

/* How many of these have passed at that time. */
u64 platter_passed(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns, u64 now_ns);

/* No sector takes longer, ns. */
u64 platter_slowest_ns(const struct tracks *tracks);

#endif
