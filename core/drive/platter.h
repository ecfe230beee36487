/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where on its turn each sector lies, and when it passes under the head: the rotational
 * position (Ruemmler and Wilkes 1994, "Data layout"; Worthington, Ganger, Patt and Wilkes 1995).
 *
 * An angle is a u64 in units of 2^-64 turns: sums and products wrap around as turns do.  The
 * platters turn with the clock of who asks, at angle 0 at its time 0; one multiplication
 * makes an angle of a time, so that no rounding accumulates: what is said to be at a
 * sector is there less than a ns later, however long the platters have turned.
 *
 * In a zone tracks are equally long, but for the last one of a cylinder, where a drive may
 * keep spare sectors.  From the end of a track's last sector to the beginning of the next
 * track's first one it is a skew; another one after each cylinder of tracks, and a third one
 * after each band of those.  Which sectors a zone and its tracks have, struct curve says
 * (core/drive/tracks.h); here is one struct platter_zone for each of its samples.
 *
 * How far the arm goes from one sector to another is counted in tracks, if that is known: a
 * track is fewer sectors near the spindle, and where a band goes along one surface and back
 * on the next, far sectors are near.  So that a curve over the whole disk holds for it,
 * a track is as many places as the disk has sectors for each of them, on average.
 */
#ifndef UNDERSTUDY_PLATTER_H
#define UNDERSTUDY_PLATTER_H

#include "tracks.h"

#define PLATTER_ZONES_MAX CURVE_POINTS_MAX
#define PLATTER_TURN_NS_MAX 1000000000ull /* 60 rpm */
#define PLATTER_SURFACES_MAX (1u << 20)
#define PLATTER_TRACKS_MAX (1ull << 40) /* of a cylinder */
#define PLATTER_SLOT_MIN (1ull << 40) /* of a turn: 2^24 on a track */

/**
 * struct platter_zone - what the angles in a zone come from
 * @slot: of a turn, for one sector to pass
 * @angle: of the beginning of the zone's first sector
 * @skew: from a track to the next
 * @cylinder: after so many tracks, counted from the zone's first ...
 * @cylinder_skew: ... it is this
 * @band: after so many tracks, a multiple of @cylinder or 0 for never ...
 * @band_skew: ... it is this
 * @spare: sectors that a cylinder's last track lacks
 * @place: of the arm, on the zone's first track
 * @step: 2^-16 places from a track to the next; 0, of all zones: a place is a sector
 * @surfaces: along which a band goes, @cylinder tracks each, there and back by turns; 0:
 *	all surfaces of a cylinder come first
 */
struct platter_zone {
	u64 slot;
	u64 angle;
	u64 skew;
	u64 cylinder;
	u64 cylinder_skew;
	u64 band;
	u64 band_skew;
	u64 spare;
	u64 place;
	u64 step;
	u64 surfaces;
};

/**
 * struct platter - the platters in turn, usable when zeroed: nobody knows
 * @velocity: 2^-64 turns in one ns
 * @nr_zones: as many as the tracks have, or 0: angles are unknown
 * @zone: the zones
 */
struct platter {
	u64 velocity;
	u32 nr_zones;
	struct platter_zone zone[PLATTER_ZONES_MAX];
};

/* 0, or -EINVAL if it is not as promised above, or not of these tracks and that period. */
int platter_check(const struct platter *platter, const struct curve *tracks,
		  u64 rotation_ns);

/* Where the sector begins. */
u64 platter_angle(const struct platter *platter, const struct curve *tracks,
		  u64 sector);

/* The sector after the last one of the track that holds this one. */
u64 platter_track_end(const struct platter *platter, const struct curve *tracks,
		      u64 sector);

/* The place of the arm. */
u64 platter_place(const struct platter *platter, const struct curve *tracks,
		  u64 sector);

/* When that angle passes a head that is there from then on; later for a later head. */
u64 platter_passes_ns(const struct platter *platter, u64 angle, u64 from_ns);

/*
 * When sectors have passed, if the head may begin with the first of them at from_ns.  It is
 * switch_ns at least from the last one of a zone to the next zone.
 */
u64 platter_end_ns(const struct platter *platter, const struct curve *tracks,
		   u64 switch_ns, u64 sector, u64 sectors, u64 from_ns);

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
u64 platter_sent_ns(const struct platter *platter, const struct curve *tracks,
		    u64 switch_ns, u64 sector, u64 sectors, u64 from_ns, u64 bus_ps,
		    u64 *last_ns);

/* When the sector behind these begins to pass, which is not the disk's end; as above. */
u64 platter_next_ns(const struct platter *platter, const struct curve *tracks,
		    u64 switch_ns, u64 sector, u64 sectors, u64 from_ns);

/* How many of these have passed at that time. */
u64 platter_passed(const struct platter *platter, const struct curve *tracks,
		   u64 switch_ns, u64 sector, u64 sectors, u64 from_ns, u64 now_ns);

/* No sector takes longer, ns. */
u64 platter_slowest_ns(const struct platter *platter);

#endif
