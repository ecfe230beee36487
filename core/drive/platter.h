/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * When each sector of a layout (tracks.h) passes under the head: the rotational position
 * (Worthington, Ganger, Patt and Wilkes 1995).
 *
 * An angle is a u64 in units of 2^-64 turns: sums and products wrap around as turns do. The
 * platters turn with the caller's clock and have angle 0 at its time 0. One multiplication turns a
 * time into an angle, so rounding errors do not accumulate: the computed time of a passage is less
 * than a ns too early, however long the platters have turned.
 *
 * From the end of a track's last sector to the beginning of the next track's first one there is a
 * skew. After each cylinder of tracks there is another skew, and after each band of cylinders a
 * third.
 */
#ifndef UNDERSTUDY_PLATTER_H
#define UNDERSTUDY_PLATTER_H

#include "tracks.h"

#define PLATTER_TURN_NS_MAX 1000000000ull /* 60 rpm */
#define PLATTER_SLOT_MIN (1ull << 40) /* of a turn: 2^24 sectors on a track */

/* 0, or -EINVAL if the angles do not fit this period or a track is too long for a turn. */
int platter_check(const struct tracks *tracks, u64 rotation_ns);

/* The angle at which the sector begins. */
u64 platter_angle(const struct tracks *tracks, u64 sector);

/* When the angle first passes a head that is there from from_ns on; monotonic in from_ns. */
u64 platter_passes_ns(const struct tracks *tracks, u64 angle, u64 from_ns);

/*
 * When all these sectors have passed, if the head may begin with the first at from_ns. From the
 * last sector of a zone to the next zone takes at least switch_ns.
 */
u64 platter_end_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns);

/* When sectors are over a bus that takes bus_ps for each, if the first begins at begins_ns. */
static inline u64 over_bus_ns(u64 begins_ns, u64 sectors, u64 bus_ps)
{
	return begins_ns + port_mul_div(sectors, bus_ps, 1000);
}

/*
 * When the last sector is over a bus that takes bus_ps for each. The bus cannot send a sector
 * before the sector has passed, so even a slower bus may wait while heads are switched. last_ns:
 * when the sectors have passed.
 */
u64 platter_sent_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns, u64 bus_ps, u64 *last_ns);

/* When the sector behind these, which must be on the disk, begins to pass; as above. */
u64 platter_next_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns);

/* How many of these have passed at now_ns. */
u64 platter_passed(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns, u64 now_ns);

/* The longest time that one sector takes to pass, ns. */
u64 platter_slowest_ns(const struct tracks *tracks);

#endif
