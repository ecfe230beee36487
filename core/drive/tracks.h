/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The layout of a disk: on which track each sector lies, and on which place of it.
 *
 * A disk is divided into recording zones, from the outer edge to the inner, whose tracks are
 * equally long (Ruemmler and Wilkes 1994, "Data layout").  In a zone tracks make a cylinder (or,
 * where a drive goes along a surface before it changes heads, a surface), and those a band; the
 * last track of each may be shorter by the spare sectors that a drive keeps there, which pass like
 * all others.
 *
 * A drive leaves out sectors that were bad when it was made: all behind such a slip lie farther
 * on.  So a sector's place, counted from the zone's first, is its number in the zone and what was
 * slipped before it; the head passes over that.  Where spare sectors have taken up a slip what
 * follows lies as much nearer again, and a sector shares its place with the one before it.
 *
 * How far the arm goes from one sector to another is counted in tracks, if @step says how many
 * sectors of the disk a track is on average, so that a curve over the whole disk holds for it.
 * Where a band goes along one surface and back on the next, far sectors are near.
 *
 * Zones and slips are the host's memory, as a curve's samples are.  No zones: nobody knows.
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
 * struct track_level - what tracks make together
 * @tracks: how many; 0: there is no such level
 * @sectors: on them, spare ones apart
 * @skew: from the last one's end, spare sectors and all, to the next one's beginning
 */
struct track_level {
	u64 tracks;
	u64 sectors;
	u64 skew;
};

/**
 * struct track_zone - a recording zone; angles are in 2^-64 turns (platter.h)
 * @first: its first sector
 * @sectors: in a track
 * @slot: of a turn, for one sector to pass
 * @angle: of the zone's beginning
 * @skew: from a track's end to the next one's beginning
 * @cylinder: or surface
 * @band: of whole cylinders; there is none without those
 * @before: tracks of the zones before, as the arm counts
 * @surfaces: along which a band goes, a level of @cylinder each, there and back by turns; 0: all
 *	surfaces of a cylinder come first
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
 * struct track_slip - from a sector on, in its zone, to the next slip
 * @sector: the first one
 * @slipped: places that were left out between the zone's first and it
 */
struct track_slip {
	u64 sector;
	u64 slipped;
};

/**
 * struct tracks - the layout, usable when zeroed
 * @nr_zones, @nr_slips: how many there are
 * @zone, @slip: they, in order of their sectors
 * @velocity: 2^-64 turns in one ns; 0: angles are not known
 * @step: 2^-16 sectors of the disk to a track; 0: the arm's way is counted in sectors
 */
struct tracks {
	u32 nr_zones;
	u32 nr_slips;
	const struct track_zone *zone;
	const struct track_slip *slip;
	u64 velocity;
	u64 step;
};

/* 0, or -EINVAL unless it is as promised above: of angles, platter_check() speaks. */
int tracks_check(const struct tracks *tracks, u64 capacity_sectors);

/* The sector after the last one of the track that holds this one; U64_MAX if unknown. */
u64 tracks_end(const struct tracks *tracks, u64 sector);

u64 tracks_counted(const struct tracks *tracks, u64 sector);

/* Where the arm is, in sectors of the disk. */
static inline u64 tracks_arm(const struct tracks *tracks, u64 sector)
{
	return tracks->step ? tracks_counted(tracks, sector) : sector;
}

/* Sectors of the shortest track, one that a level ends with; U64_MAX if unknown. */
u64 tracks_shortest(const struct tracks *tracks);

/* Places that so many sectors extend over, at most. */
u64 tracks_places_most(const struct tracks *tracks, u64 sectors);

/**
 * struct track_view - a zone as it is seen from one of its sectors
 * @zone: the zone
 * @end: its last sector's next
 * @slipped: before the sector
 * @next_slip: the first one behind the sector
 * @last_slip: behind the last one of all
 */
struct track_view {
	const struct track_zone *zone;
	u64 end;
	u64 slipped;
	const struct track_slip *next_slip;
	const struct track_slip *last_slip;
};

/**
 * struct track_mark - a place of a zone
 * @place: counted from its first
 * @slots: that pass from there to it, spare ones as well
 * @band, @cylinder, @track: before it; cylinders of its band and tracks of its cylinder
 */
struct track_mark {
	u64 place;
	u64 slots;
	u64 band;
	u64 cylinder;
	u64 track;
};

/* There have to be zones. */
struct track_view tracks_view(const struct tracks *tracks, u64 sector);

struct track_mark track_mark(const struct track_zone *zone, u64 place);

/* A track's first place; tracks are counted from the zone's first. */
struct track_mark track_first(const struct track_zone *zone, u64 track);

/* The place after the last one of that track. */
u64 track_next(const struct track_zone *zone, const struct track_mark *mark);

u64 track_number(const struct track_zone *zone, const struct track_mark *mark);

/* The first sector, from the one of the view on, that lies at that place or behind it. */
u64 track_sector(const struct track_view *view, u64 sector, u64 place);

static inline u64 track_place(const struct track_view *view, u64 sector)
{
	return sector - view->zone->first + view->slipped;
}

#endif
