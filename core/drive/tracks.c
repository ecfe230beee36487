// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "tracks.h"
#include "../least.h"
#include "search.h"

static u64 quotient(u64 a, u64 b)
{
	return port_mul_div(a, 1, b);
}

/* Return the number of ends of cylinders inside a band, without the end of the band. */
static u64 cylinders_within(const struct track_zone *zone)
{
	return quotient(zone->band.tracks - 1, zone->cylinder.tracks);
}

u64 track_number(const struct track_zone *zone, const struct track_mark *mark)
{
	return mark->band * zone->band.tracks + mark->cylinder * zone->cylinder.tracks +
	       mark->track;
}

struct track_mark track_mark(const struct track_zone *zone, u64 place)
{
	struct track_mark mark = { .place = place };

	if (zone->band.tracks) {
		mark.band = quotient(place, zone->band.sectors);
		place -= mark.band * zone->band.sectors;
	}
	if (zone->cylinder.tracks) {
		mark.cylinder = quotient(place, zone->cylinder.sectors);
		if (zone->band.tracks) /* a band's last cylinder may be longer */
			mark.cylinder = nearer(mark.cylinder, cylinders_within(zone));
		place -= mark.cylinder * zone->cylinder.sectors;
	}
	mark.track = quotient(place, zone->sectors);
	mark.slots = track_number(zone, &mark) * zone->sectors + place -
		     mark.track * zone->sectors;
	return mark;
}

struct track_mark track_first(const struct track_zone *zone, u64 track)
{
	struct track_mark mark = { 0 };

	if (zone->band.tracks) {
		mark.band = quotient(track, zone->band.tracks);
		track -= mark.band * zone->band.tracks;
	}
	if (zone->cylinder.tracks) {
		mark.cylinder = quotient(track, zone->cylinder.tracks);
		track -= mark.cylinder * zone->cylinder.tracks;
	}
	mark.track = track;
	mark.slots = track_number(zone, &mark) * zone->sectors;
	mark.place = mark.band * zone->band.sectors +
		     mark.cylinder * zone->cylinder.sectors +
		     mark.track * zone->sectors;
	return mark;
}

u64 track_next(const struct track_zone *zone, const struct track_mark *mark)
{
	const struct track_level *cylinder = &zone->cylinder, *band = &zone->band;
	u64 place = mark->band * band->sectors;

	if (band->tracks &&
	    mark->cylinder * cylinder->tracks + mark->track + 1 == band->tracks)
		return place + band->sectors;
	place += mark->cylinder * cylinder->sectors;
	if (mark->track + 1 == cylinder->tracks)
		return place + cylinder->sectors;
	return place + (mark->track + 1) * zone->sectors;
}

/*
 * Return whether each track of the level has at least one sector, even if spare sectors shorten the
 * last track.
 */
static bool level_is_sound(const struct track_level *level,
			   const struct track_level *below, u64 sectors)
{
	u64 inner = below->tracks ? quotient(level->tracks - 1, below->tracks) : 0;
	u64 least = inner * below->sectors +
		    (level->tracks - 1 - inner * below->tracks) * sectors;

	return level->tracks <= TRACKS_OF_LEVEL_MAX && level->sectors > least &&
	       level->sectors - least <= sectors;
}

static bool zone_is_sound(const struct track_zone *zone, u64 end)
{
	const struct track_level none = { 0 };

	if (!zone->sectors || zone->sectors > TRACKS_SECTORS_MAX ||
	    zone->first >= end || zone->sectors > end - zone->first ||
	    zone->surfaces > TRACKS_SURFACES_MAX)
		return false;
	if (!zone->cylinder.tracks)
		return !zone->band.tracks && !zone->surfaces;
	if (!level_is_sound(&zone->cylinder, &none, zone->sectors))
		return false;
	return !zone->band.tracks ||
	       level_is_sound(&zone->band, &zone->cylinder, zone->sectors);
}

static const struct track_zone *zone_of(const struct tracks *tracks, u64 sector)
{
	return search_last(tracks->zone, tracks->nr_zones, sizeof(struct track_zone),
			   sector);
}

/* Return the number of places slipped in the zone before slip i. */
static u64 slipped_until(const struct tracks *tracks, u32 i)
{
	const struct track_slip *slip = tracks->slip + i;

	if (!i || slip[-1].sector < zone_of(tracks, slip->sector)->first)
		return 0;
	return slip[-1].slipped;
}

/* Return whether the slips ascend and no sector is placed before its predecessor. */
static bool slips_are_sound(const struct tracks *tracks, u64 capacity_sectors)
{
	const struct track_slip *slip = tracks->slip;
	u32 i;

	for (i = 0; i < tracks->nr_slips; i++) {
		if (slip[i].sector >= capacity_sectors ||
		    slip[i].slipped >= capacity_sectors ||
		    (i && slip[i].sector <= slip[i - 1].sector) ||
		    slip[i].slipped + 1 < slipped_until(tracks, i))
			return false;
	}
	return true;
}

int tracks_check(const struct tracks *tracks, u64 capacity_sectors)
{
	const struct track_zone *zone = tracks->zone;
	u32 i;

	if (tracks->nr_zones > TRACKS_ZONES_MAX ||
	    tracks->nr_slips > TRACKS_SLIPS_MAX || tracks->step > TRACKS_STEP_MAX)
		return -EINVAL;
	if (!tracks->nr_zones)
		return tracks->nr_slips || tracks->velocity || tracks->step ? -EINVAL
									    : 0;
	if (zone->first)
		return -EINVAL;
	for (i = 0; i < tracks->nr_zones; i++) {
		bool last = i + 1 == tracks->nr_zones;

		if (!zone_is_sound(zone + i,
				   last ? capacity_sectors : zone[i + 1].first))
			return -EINVAL;
	}
	return slips_are_sound(tracks, capacity_sectors) ? 0 : -EINVAL;
}

/* Return the first slip after the sector. */
static const struct track_slip *slip_behind(const struct tracks *tracks, u64 sector)
{
	const struct track_slip *slip = tracks->slip;

	if (!tracks->nr_slips || slip->sector > sector)
		return slip;
	slip = search_last(slip, tracks->nr_slips, sizeof(*slip), sector);
	return slip + 1;
}

struct track_view tracks_view(const struct tracks *tracks, u64 sector)
{
	const struct track_zone *zone = zone_of(tracks, sector);
	bool last = zone + 1 == tracks->zone + tracks->nr_zones;
	struct track_view view = {
		.zone = zone,
		.end = last ? U64_MAX : zone[1].first,
		.next_slip = tracks->slip,
		.last_slip = tracks->slip + tracks->nr_slips,
	};

	if (!tracks->nr_slips)
		return view;
	view.next_slip = slip_behind(tracks, sector);
	if (view.next_slip != tracks->slip &&
	    view.next_slip[-1].sector >= view.zone->first)
		view.slipped = view.next_slip[-1].slipped;
	return view;
}

u64 track_sector(const struct track_view *view, u64 sector, u64 place)
{
	const struct track_slip *slip = view->next_slip;
	u64 at = track_place(view, sector);

	for (;; slip++) {
		u64 there = sector + (place > at ? place - at : 0);

		if (slip == view->last_slip || there < slip->sector ||
		    slip->sector >= view->end)
			return there;
		sector = slip->sector;
		at = sector - view->zone->first + slip->slipped;
	}
}

__attribute__((flatten)) u64 tracks_end(const struct tracks *tracks, u64 sector)
{
	struct track_view view;
	struct track_mark mark;

	if (!tracks->nr_zones)
		return U64_MAX;
	view = tracks_view(tracks, sector);
	mark = track_mark(view.zone, track_place(&view, sector));
	return nearer(track_sector(&view, sector, track_next(view.zone, &mark)),
		      view.end);
}

/*
 * Return the number of a track in the arm's count, in which the tracks at one arm position on all
 * surfaces have successive numbers.
 */
static u64 along_surfaces(const struct track_zone *zone, u64 track)
{
	u64 along_one = zone->cylinder.tracks;
	u64 band = along_one * zone->surfaces;
	u64 first = quotient(track, band) * band;
	u64 surface = quotient(track - first, along_one);
	u64 along = track - first - surface * along_one;

	if (surface & 1)
		along = along_one - 1 - along;
	return first + along * zone->surfaces;
}

u64 tracks_counted(const struct tracks *tracks, u64 sector)
{
	struct track_view view;
	struct track_mark mark;
	u64 track;

	view = tracks_view(tracks, sector);
	mark = track_mark(view.zone, track_place(&view, sector));
	track = track_number(view.zone, &mark);
	if (view.zone->surfaces)
		track = along_surfaces(view.zone, track);
	return port_mul_div(view.zone->before + track, tracks->step, 1 << 16);
}

/* Return the number of sectors on the last track of a level. */
static u64 last_track(const struct track_zone *zone, u64 tracks, u64 sectors)
{
	return sectors - track_first(zone, tracks - 1).place;
}

u64 tracks_shortest(const struct tracks *tracks)
{
	u64 shortest = U64_MAX;
	u32 i;

	for (i = 0; i < tracks->nr_zones; i++) {
		const struct track_zone *zone = tracks->zone + i;
		const struct track_level *cylinder = &zone->cylinder;
		const struct track_level *band = &zone->band;

		shortest = nearer(shortest, zone->sectors);
		if (cylinder->tracks)
			shortest = nearer(shortest, last_track(zone, cylinder->tracks,
							       cylinder->sectors));
		if (band->tracks)
			shortest = nearer(shortest, last_track(zone, band->tracks,
							       band->sectors));
	}
	return shortest;
}

u64 tracks_places_most(const struct tracks *tracks, u64 sectors)
{
	u64 slipped = 0;
	u32 i;

	for (i = 0; i < tracks->nr_slips; i++) {
		u64 until = slipped_until(tracks, i);

		slipped += later(tracks->slip[i].slipped, until) - until;
	}
	return sum_at_most(sectors, slipped);
}
