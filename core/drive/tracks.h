/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The layout of a disk: the track of each sector, and the sector's place on the track.
 *
 * A disk is divided into recording zones, from the outer edge to the inner. All tracks of a zone
 * have the same length (Ruemmler and Wilkes 1994, "Data layout"). Within a zone, tracks form
 * cylinders, and cylinders form bands. (Where a drive fills a surface before it changes heads,
 * "cylinder" means the tracks on one surface.) The last track of a cylinder or band may be shorter
 * by the drive's spare sectors there, which pass under the head like all others.
 *
 * Here a place is the room for one sector on a track. A drive does not use places that were
 * defective when the drive was made; such a place is slipped, and the head passes over it. All
 * sectors after a slip are one place farther on. So the index of a sector's place in the zone is
 * the sector's index in the zone plus the number of places slipped before it. Where spare sectors
 * have absorbed a slip, the sectors after it move back by one place, and in this model a sector
 * then has the same place as its predecessor.
 *
 * If @step is set, the arm's distances are counted in tracks; @step is the disk's average number of
 * sectors on a track, so that a seek curve over the whole disk still applies. Where a band goes
 * along one surface and back on the next, sectors whose numbers differ much can be near each other.
 *
 * Zones and slips are in the host's memory, like the samples of a curve. Without zones the layout
 * is unknown.
 */
#ifndef UNDERSTUDY_TRACKS_H
#define UNDERSTUDY_TRACKS_H

#include "../port.h"

#define TRACKS_ZONES_MAX 1024
#define TRACKS_SLIPS_MAX 16384
#define TRACKS_SECTORS_MAX (1u << 20) /* in one track */
#define TRACKS_OF_LEVEL_MAX (1u << 31)
#define TRACKS_SURFACES_MAX (1u << 20)
#define TRACKS_STEP_MAX (1ull << 40)

/**
 * struct track_level - a level of the layout: tracks that form a cylinder or a band
 * @tracks: number of tracks; 0: there is no such level
 * @sectors: sectors on them, without spare ones
 * @skew: angle from the end of the last track, including spare sectors, to the beginning of the
 *	next
 */
struct track_level {
	u64 tracks;
	u64 sectors;
	u64 skew;
};

/**
 * struct track_zone - a recording zone; angles are in 2^-64 turns (platter.h)
 * @first: its first sector
 * @sectors: sectors on a track
 * @slot: share of a rotation in which one sector passes
 * @angle: angle of the zone's beginning
 * @skew: angle from a track's end to the next track's beginning
 * @cylinder: its cylinders, or surfaces
 * @band: its bands of whole cylinders; none without cylinders
 * @before: number of tracks in the zones before, as the arm counts them
 * @surfaces: number of surfaces in a band, each a level of @cylinder, filled in alternating
 *	directions; 0: all surfaces of a cylinder come first
 */
struct track_zone {
	u64 first;
	u64 sectors;
	u64 slot;
	u64 angle;
	u64 skew;
	struct track_level cylinder;
	struct track_level band;
	u64 before;
	u64 surfaces;
};

/**
 * struct track_slip - a slip; it applies from a sector to the next slip in its zone
 * @sector: the first sector after the slip
 * @slipped: number of places slipped between the zone's first sector and this one
 */
struct track_slip {
	u64 sector;
	u64 slipped;
};

/**
 * struct tracks - the layout, usable when zeroed
 * @nr_zones, @nr_slips: number of zones and slips
 * @zone, @slip: zones and slips, in order of their sectors
 * @velocity: angle that the platters turn in one ns, in 2^-64 turns; 0: angles are not known
 * @step: average number of sectors on a track, in 2^-16; 0: the arm's distances are counted in
 *	sectors
 */
struct tracks {
	u32 nr_zones;
	u32 nr_slips;
	const struct track_zone *zone;
	const struct track_slip *slip;
	u64 velocity;
	u64 step;
};

/*
 * Returns 0, or -EINVAL if the layout violates a condition stated above. platter_check() checks the
 * angles.
 */
int tracks_check(const struct tracks *tracks, u64 capacity_sectors);

/* The sector after the last one of the track that holds this one; U64_MAX if unknown. */
u64 tracks_end(const struct tracks *tracks, u64 sector);

u64 tracks_counted(const struct tracks *tracks, u64 sector);

/* The arm position for a sector, in sectors of the disk. */
static inline u64 tracks_arm(const struct tracks *tracks, u64 sector)
{
	return tracks->step ? tracks_counted(tracks, sector) : sector;
}

/*
 * Number of sectors on the shortest track, including the last track of a level; U64_MAX if unknown.
 */
u64 tracks_shortest(const struct tracks *tracks);

/* The most places over which this many sectors can extend. */
u64 tracks_places_most(const struct tracks *tracks, u64 sectors);

/**
 * struct track_view - a zone seen from one of its sectors
 * @zone: the zone
 * @end: the sector after the zone's last one
 * @slipped: number of places slipped before the sector
 * @next_slip: the first slip after the sector
 * @last_slip: the end of the array of slips
 */
struct track_view {
	const struct track_zone *zone;
	u64 end;
	u64 slipped;
	const struct track_slip *next_slip;
	const struct track_slip *last_slip;
};

/**
 * struct track_mark - a place in a zone
 * @place: index of the place in the zone
 * @slots: number of slots that pass from the zone's first place to this one, including spare
 *	sectors
 * @band, @cylinder, @track: how many of them are before the place; cylinders are counted within its
 *	band, tracks within its cylinder
 */
struct track_mark {
	u64 place;
	u64 slots;
	u64 band;
	u64 cylinder;
	u64 track;
};

/* The layout must have zones. */
struct track_view tracks_view(const struct tracks *tracks, u64 sector);

struct track_mark track_mark(const struct track_zone *zone, u64 place);

/* A track's first place; the zone's first track has the number 0. */
struct track_mark track_first(const struct track_zone *zone, u64 track);

/* The place after the last one of the track. */
u64 track_next(const struct track_zone *zone, const struct track_mark *mark);

u64 track_number(const struct track_zone *zone, const struct track_mark *mark);

/* The first sector, from `sector` on, that is at `place` or after it. */
u64 track_sector(const struct track_view *view, u64 sector, u64 place);

static inline u64 track_place(const struct track_view *view, u64 sector)
{
	return sector - view->zone->first + view->slipped;
}

#endif
