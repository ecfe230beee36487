// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "platter.h"
#include "../least.h"

/* A zone of the platters and of the tracks. */
struct zone_view {
	const struct platter_zone *turn;
	u64 first; /* sector */
	u64 end;
	u64 sectors; /* on a track */
};

/* A gap between two sectors of a zone, counted from its first: on the track after or before. */
struct gap {
	u64 sector;
	u64 track;
};

/* How many skews of each kind lie before a track. */
struct skews {
	u64 plain;
	u64 cylinders;
	u64 bands;
};

static struct zone_view zone_of(const struct platter *platter,
				const struct curve *tracks, u64 sector)
{
	u32 i = tracks_zone(tracks, sector);

	return (struct zone_view){
		.turn = platter->zone + i,
		.first = tracks->point[i].at,
		.end = i + 1 < tracks->nr_points ? tracks->point[i + 1].at : U64_MAX,
		.sectors = tracks->point[i].value,
	};
}

static u64 cylinder_sectors(const struct zone_view *zone)
{
	return zone->turn->cylinder * zone->sectors - zone->turn->spare;
}

/* The track of a sector that is counted from the zone's first. */
static u64 track_of(const struct zone_view *zone, u64 in_zone)
{
	if (zone->turn->spare)
		in_zone += port_mul_div(in_zone, 1, cylinder_sectors(zone)) *
			   zone->turn->spare;
	return port_mul_div(in_zone, 1, zone->sectors);
}

/* A track's first sector, counted so. */
static u64 first_of(const struct zone_view *zone, u64 track)
{
	u64 sectors = track * zone->sectors;

	if (!zone->turn->spare)
		return sectors;
	return sectors -
	       port_mul_div(track, 1, zone->turn->cylinder) * zone->turn->spare;
}

static struct gap before(const struct zone_view *zone, u64 sector)
{
	u64 in_zone = sector - zone->first;

	return (struct gap){ in_zone, track_of(zone, in_zone) };
}

static struct gap behind(const struct zone_view *zone, u64 sector)
{
	struct gap gap = before(zone, sector);

	gap.sector++;
	return gap;
}

static struct skews skews_before(const struct platter_zone *turn, u64 track)
{
	u64 bands = turn->band ? port_mul_div(track, 1, turn->band) : 0;
	u64 cylinders = port_mul_div(track, 1, turn->cylinder) - bands;

	return (struct skews){ track - cylinders - bands, cylinders, bands };
}

static u64 angle_of(const struct platter_zone *turn, struct gap gap)
{
	struct skews skews = skews_before(turn, gap.track);

	return turn->angle + gap.sector * turn->slot + skews.plain * turn->skew +
	       skews.cylinders * turn->cylinder_skew + skews.bands * turn->band_skew;
}

/* So many of these angles, ns. */
static u64 turned_ns(const struct platter *platter, u64 count, u64 angle)
{
	return count ? port_mul_div(count, angle, platter->velocity) : 0;
}

/*
 * From one gap, which passes at from_ns, to another one behind it.  Each term is rounded
 * down: the whole turns are right, and what is missing of the rest is a few ns.
 */
static u64 travel_ns(const struct platter *platter, const struct platter_zone *turn,
		     struct gap from, struct gap to, u64 from_ns)
{
	u64 at_ns = from_ns + turned_ns(platter, to.sector - from.sector, turn->slot);

	if (to.track != from.track) {
		struct skews a = skews_before(turn, from.track);
		struct skews b = skews_before(turn, to.track);

		at_ns += turned_ns(platter, b.plain - a.plain, turn->skew) +
			 turned_ns(platter, b.cylinders - a.cylinders,
				   turn->cylinder_skew) +
			 turned_ns(platter, b.bands - a.bands, turn->band_skew);
	}
	return platter_passes_ns(platter, angle_of(turn, to), at_ns);
}

int platter_check(const struct platter *platter, const struct curve *tracks,
		  u64 rotation_ns)
{
	u64 turn_ns;
	u32 i;

	if (!platter->nr_zones)
		return 0;
	if (platter->nr_zones > PLATTER_ZONES_MAX ||
	    platter->nr_zones != tracks->nr_points || !platter->velocity)
		return -EINVAL;
	turn_ns = port_mul_div(U64_MAX, 1, platter->velocity);
	if (turn_ns > PLATTER_TURN_NS_MAX || turn_ns + 1 < rotation_ns ||
	    turn_ns > rotation_ns + 1)
		return -EINVAL;
	for (i = 0; i < platter->nr_zones; i++) {
		const struct platter_zone *turn = platter->zone + i;

		if (turn->slot < PLATTER_SLOT_MIN ||
		    turn->slot - 1 > port_mul_div(U64_MAX, 1, tracks->point[i].value))
			return -EINVAL;
		if (!turn->cylinder ||
		    turn->band != port_mul_div(turn->band, 1, turn->cylinder) *
					  turn->cylinder)
			return -EINVAL;
		if (turn->surfaces > PLATTER_SURFACES_MAX ||
		    turn->cylinder > PLATTER_TRACKS_MAX ||
		    turn->spare >= tracks->point[i].value ||
		    !turn->step != !platter->zone->step)
			return -EINVAL;
	}
	return 0;
}

u64 platter_angle(const struct platter *platter, const struct curve *tracks, u64 sector)
{
	struct zone_view zone = zone_of(platter, tracks, sector);

	return angle_of(zone.turn, before(&zone, sector));
}

u64 platter_track_end(const struct platter *platter, const struct curve *tracks,
		      u64 sector)
{
	struct zone_view zone = zone_of(platter, tracks, sector);
	u64 next = first_of(&zone, before(&zone, sector).track + 1);

	return nearer(zone.first + next, zone.end);
}

/* As the arm goes: what lies on all surfaces of a cylinder is one after the other. */
static u64 along_surfaces(const struct platter_zone *turn, u64 track)
{
	u64 band = turn->cylinder * turn->surfaces;
	u64 first = port_mul_div(track, 1, band) * band;
	u64 surface = port_mul_div(track - first, 1, turn->cylinder);
	u64 along = track - first - surface * turn->cylinder;

	if (surface & 1)
		along = turn->cylinder - 1 - along;
	return first + along * turn->surfaces;
}

u64 platter_place(const struct platter *platter, const struct curve *tracks, u64 sector)
{
	struct zone_view zone;
	u64 track;

	if (!platter->zone->step)
		return sector;
	zone = zone_of(platter, tracks, sector);
	track = before(&zone, sector).track;
	if (zone.turn->surfaces)
		track = along_surfaces(zone.turn, track);
	return zone.turn->place + port_mul_div(track, zone.turn->step, 1 << 16);
}

u64 platter_passes_ns(const struct platter *platter, u64 angle, u64 from_ns)
{
	u64 turns = angle - from_ns * platter->velocity;

	return from_ns + port_mul_div(turns, 1, platter->velocity);
}

/* Sectors of one zone that pass. */
struct passage {
	struct gap first;
	struct gap last;
	u64 begin_ns;
	u64 end_ns;
};

static inline struct passage passage_of(const struct platter *platter,
					const struct zone_view *zone, u64 sector,
					u64 end, u64 from_ns)
{
	struct passage passage = { .first = before(zone, sector),
				   .last = behind(zone, end - 1) };

	passage.begin_ns = platter_passes_ns(
		platter, angle_of(zone->turn, passage.first), from_ns);
	passage.end_ns = travel_ns(platter, zone->turn, passage.first, passage.last,
				   passage.begin_ns);
	return passage;
}

u64 platter_end_ns(const struct platter *platter, const struct curve *tracks,
		   u64 switch_ns, u64 sector, u64 sectors, u64 from_ns)
{
	u64 end = sector + sectors;

	while (sector < end) {
		struct zone_view zone = zone_of(platter, tracks, sector);
		u64 stop = nearer(end, zone.end);

		from_ns = passage_of(platter, &zone, sector, stop, from_ns).end_ns;
		if (stop < end)
			from_ns += switch_ns;
		sector = stop;
	}
	return from_ns;
}

u64 platter_sent_ns(const struct platter *platter, const struct curve *tracks,
		    u64 switch_ns, u64 sector, u64 sectors, u64 from_ns, u64 bus_ps,
		    u64 *last_ns)
{
	u64 end = sector + sectors;
	u64 sent_ns = over_bus_ns(from_ns, sectors, bus_ps);

	*last_ns = from_ns;
	while (sector < end) {
		struct zone_view zone = zone_of(platter, tracks, sector);
		u64 stop = nearer(end, zone.end);
		struct passage passage =
			passage_of(platter, &zone, sector, stop, from_ns);
		struct gap at = passage.first;

		sent_ns = later(sent_ns,
				over_bus_ns(passage.begin_ns, end - sector, bus_ps));
		while (at.track < passage.last.track) {
			u64 begin_ns;

			at.track++;
			at.sector = first_of(&zone, at.track);
			begin_ns = travel_ns(platter, zone.turn, passage.first, at,
					     passage.begin_ns);
			sent_ns =
				later(sent_ns, over_bus_ns(begin_ns,
							   end - zone.first - at.sector,
							   bus_ps));
		}
		*last_ns = passage.end_ns;
		from_ns = passage.end_ns + switch_ns;
		sector = stop;
	}
	return later(sent_ns, *last_ns);
}

u64 platter_next_ns(const struct platter *platter, const struct curve *tracks,
		    u64 switch_ns, u64 sector, u64 sectors, u64 from_ns)
{
	u64 next = sector + sectors;
	struct zone_view zone = zone_of(platter, tracks, next);

	from_ns = platter_end_ns(platter, tracks, switch_ns, sector, sectors, from_ns);
	if (next == zone.first)
		from_ns += switch_ns;
	return platter_passes_ns(platter, angle_of(zone.turn, before(&zone, next)),
				 from_ns);
}

/* The beginning of the track that the head is on at that time, or of what passes of it. */
static struct gap track_at(const struct platter *platter, const struct zone_view *zone,
			   struct gap first, u64 from_ns, u64 now_ns, u64 *began_ns)
{
	u64 sectors = port_mul_div(now_ns - from_ns, platter->velocity,
				   zone->turn->slot); /* if there were no skews */
	u64 low = first.track;
	u64 high = track_of(zone, first.sector + sectors);
	struct gap at = first;

	*began_ns = from_ns;
	while (low < high) {
		u64 middle = high - (high - low) / 2;
		struct gap begin = { first_of(zone, middle), middle };
		u64 ns = travel_ns(platter, zone->turn, first, begin, from_ns);

		if (ns > now_ns) {
			high = middle - 1;
		} else {
			low = middle;
			at = begin;
			*began_ns = ns;
		}
	}
	return at;
}

/* As platter_passed(), of sectors of one zone that have not all passed. */
static u64 passed_in_zone(const struct platter *platter, const struct zone_view *zone,
			  const struct passage *passage, u64 now_ns)
{
	struct gap at;
	u64 began_ns, on_track;

	if (now_ns <= passage->begin_ns)
		return 0;
	at = track_at(platter, zone, passage->first, passage->begin_ns, now_ns,
		      &began_ns);
	on_track = port_mul_div(now_ns - began_ns, platter->velocity, zone->turn->slot);
	return nearer(at.sector + on_track, first_of(zone, at.track + 1)) -
	       passage->first.sector;
}

u64 platter_passed(const struct platter *platter, const struct curve *tracks,
		   u64 switch_ns, u64 sector, u64 sectors, u64 from_ns, u64 now_ns)
{
	u64 end = sector + sectors;
	u64 at = sector;

	while (at < end) {
		struct zone_view zone = zone_of(platter, tracks, at);
		u64 stop = nearer(end, zone.end);
		struct passage passage = passage_of(platter, &zone, at, stop, from_ns);

		if (now_ns < passage.end_ns)
			return at - sector +
			       passed_in_zone(platter, &zone, &passage, now_ns);
		at = stop;
		from_ns = passage.end_ns + switch_ns;
	}
	return sectors;
}

u64 platter_slowest_ns(const struct platter *platter)
{
	u64 slowest = 0;
	u32 i;

	for (i = 0; i < platter->nr_zones; i++)
		slowest = later(slowest, platter->zone[i].slot);
	return slowest ? port_mul_div(slowest, 1, platter->velocity) + 1 : 0;
}
