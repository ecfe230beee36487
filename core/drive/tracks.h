/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The layout of a disk: the track of each sector, and the sector's place on the track.
 *
 * A disk is divided into recording zones, from the outer edge to the inner. All tracks of a zone
 * have the same length (Ruemmler and Wilkes 1994, "Data layout"). Within a zone, tracks form
 * cylinders, and cylinders form bands. (Where a drive fills a surface before it changes heads,
 * "cylinder" means the tracks on one surface.) Spare sectors may shorten the last track of a
 * cylinder or band; they pass under the head like all other sectors.
 *
 * In this file, a place is the room for one sector on a track. Places that were defective when the
 * drive was made are slipped: the drive does not use them, and the head passes over them. All
 * sectors after a slip are one place farther on. So the index of a sector's place in the zone is
 * the sector's index in the zone plus the number of places slipped before it. Where spare sectors
 * make up for a slipped place, the sectors after it move back by one place. In this model, the
 * first of these sectors then has the same place as its predecessor.
 *
 * If @step is set, the arm's distances are counted in tracks and multiplied by @step, the disk's
 * average number of sectors on a track. So a seek curve over the whole disk still applies. Where a
 * band runs along one surface and back along the next, sectors whose numbers differ widely can be
 * close together.
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
 * struct track_level - a level of the layout: the tracks of a cylinder or of a band
 * @tracks: number of tracks; 0: there is no such level
 * @sectors: number of sectors on these tracks, without spare sectors
 * @skew: angle from the end of the level's last track, including spare sectors, to the beginning of
 *	the next track
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
 * @band: its bands of whole cylinders; none if there are no cylinders
 * @before: number of tracks in all zones before this one, in the arm's count
 * @surfaces: number of surfaces in a band, which are filled in alternating directions; @cylinder is
 *	then the part of a band on one surface. 0: all surfaces of a cylinder are filled before the
 *	next cylinder
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
 * struct track_slip - a slip; it applies to the sectors from @sector to the next slip in the zone
 * @sector: the first sector after the slip
 * @slipped: number of places slipped between the zone's first sector and @sector
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
 * @step: average number of sectors on a track, in units of 2^-16; 0: the arm's distances are
 *	counted in sectors
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

/* Return the first sector after the track that holds this sector; U64_MAX if unknown. */
u64 tracks_end(const struct tracks *tracks, u64 sector);

u64 tracks_counted(const struct tracks *tracks, u64 sector);

/* Return the arm position for a sector, counted in sectors. */
static inline u64 tracks_arm(const struct tracks *tracks, u64 sector)
{
	return tracks->step ? tracks_counted(tracks, sector) : sector;
}

/*
 * Return the number of sectors on the shortest track, which may be the last track of a level;
 * U64_MAX if unknown.
 */
u64 tracks_shortest(const struct tracks *tracks);

/*
 * Return the largest number of places, including slipped ones, over which this many sectors can
 * extend.
 */
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
 * @slots: number of slots, including those of spare sectors, that pass between the zone's first
 *	place and this one
 * @band, @cylinder, @track: numbers of bands, cylinders and tracks before the place; cylinders are
 *	counted within the band, tracks within the cylinder
 */
struct track_mark {
	u64 place;
	u64 slots;
	u64 band;
	u64 cylinder;
	u64 track;
};

/* Return a view of the zone that holds the sector. The layout must have zones. */
struct track_view tracks_view(const struct tracks *tracks, u64 sector);

struct track_mark track_mark(const struct track_zone *zone, u64 place);

/* Return the first place of a track; the zone's first track has the number 0. */
struct track_mark track_first(const struct track_zone *zone, u64 track);

/* Return the place after the last one of the track. */
u64 track_next(const struct track_zone *zone, const struct track_mark *mark);

u64 track_number(const struct track_zone *zone, const struct track_mark *mark);

/* Return the first sector, not before `sector`, that is at `place` or after it. */
u64 track_sector(const struct track_view *view, u64 sector, u64 place);

static inline u64 track_place(const struct track_view *view, u64 sector)
{
	return sector - view->zone->first + view->slipped;
}

#endif
