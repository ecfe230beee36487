// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "platter.h"
#include "../least.h"

/* Numbers of skews of each kind between the beginning of the zone and a slot. */
struct skews {
	u64 plain;
	u64 cylinders;
	u64 bands;
};

static struct skews skews_before(const struct track_zone *zone,
				 const struct track_mark *mark)
{
	u64 track = track_number(zone, mark);
	u64 cylinders = mark->cylinder;

	if (mark->band)
		cylinders += mark->band * port_mul_div(zone->band.tracks - 1, 1,
						       zone->cylinder.tracks);
	return (struct skews){ track - cylinders - mark->band, cylinders, mark->band };
}

static u64 angle_of(const struct track_zone *zone, const struct track_mark *mark)
{
	struct skews skews = skews_before(zone, mark);

	return zone->angle + mark->slots * zone->slot + skews.plain * zone->skew +
	       skews.cylinders * zone->cylinder.skew + skews.bands * zone->band.skew;
}

/* Return how long the platters need to turn by `count` times `angle`, ns. */
static u64 turned_ns(const struct tracks *tracks, u64 count, u64 angle)
{
	return count ? port_mul_div(count, angle, tracks->velocity) : 0;
}

/*
 * Return when a place passes, if an earlier place of the same zone passes at from_ns. Each term is
 * rounded down, so the sum is a few ns too small; platter_passes_ns() corrects this.
 */
static u64 travel_ns(const struct tracks *tracks, const struct track_zone *zone,
		     const struct track_mark *from, const struct track_mark *to,
		     u64 from_ns)
{
	struct skews a = skews_before(zone, from);
	struct skews b = skews_before(zone, to);

	from_ns += turned_ns(tracks, to->slots - from->slots, zone->slot) +
		   turned_ns(tracks, b.plain - a.plain, zone->skew) +
		   turned_ns(tracks, b.cylinders - a.cylinders, zone->cylinder.skew) +
		   turned_ns(tracks, b.bands - a.bands, zone->band.skew);
	return platter_passes_ns(tracks, angle_of(zone, to), from_ns);
}

int platter_check(const struct tracks *tracks, u64 rotation_ns)
{
	u64 turn_ns;
	u32 i;

	if (!tracks->velocity)
		return 0;
	turn_ns = port_mul_div(U64_MAX, 1, tracks->velocity);
	if (turn_ns > PLATTER_TURN_NS_MAX || turn_ns + 1 < rotation_ns ||
	    turn_ns > rotation_ns + 1)
		return -EINVAL;
	for (i = 0; i < tracks->nr_zones; i++) {
		const struct track_zone *zone = tracks->zone + i;

		if (zone->slot < PLATTER_SLOT_MIN ||
		    zone->slot - 1 > port_mul_div(U64_MAX, 1, zone->sectors))
			return -EINVAL;
	}
	return 0;
}

static struct track_mark mark_of(const struct track_view *view, u64 sector)
{
	return track_mark(view->zone, track_place(view, sector));
}

__attribute__((flatten)) u64 platter_angle(const struct tracks *tracks, u64 sector)
{
	struct track_view view = tracks_view(tracks, sector);
	struct track_mark mark = mark_of(&view, sector);

	return angle_of(view.zone, &mark);
}

u64 platter_passes_ns(const struct tracks *tracks, u64 angle, u64 from_ns)
{
	u64 turns = angle - from_ns * tracks->velocity;

	return from_ns + port_mul_div(turns, 1, tracks->velocity);
}

/* Successive sectors of one zone that pass under the head. */
struct passage {
	struct track_view view; /* the zone as seen from the first sector */
	u64 sector;
	u64 stop;
	struct track_mark first;
	u64 begin_ns;
	u64 end_ns;
};

__attribute__((flatten)) static inline struct passage
passage_of(const struct tracks *tracks, u64 sector, u64 end, u64 from_ns)
{
	struct passage passage = { .view = tracks_view(tracks, sector),
				   .sector = sector };
	struct track_view at_end = passage.view;
	const struct track_zone *zone = passage.view.zone;
	struct track_mark last;
	u64 angle, place;

	passage.stop = nearer(end, passage.view.end);
	passage.first = last = mark_of(&passage.view, sector);
	angle = angle_of(zone, &last);
	passage.begin_ns = platter_passes_ns(tracks, angle, from_ns);
	if (at_end.next_slip != at_end.last_slip &&
	    at_end.next_slip->sector < passage.stop)
		at_end = tracks_view(tracks, passage.stop - 1);
	place = track_place(&at_end, passage.stop - 1) + 1;
	if (place <= track_next(zone, &last)) { /* on one track */
		u64 slots = place - last.place;

		passage.end_ns = platter_passes_ns(
			tracks, angle + slots * zone->slot,
			passage.begin_ns + turned_ns(tracks, slots, zone->slot));
		return passage;
	}
	last = track_mark(zone, place - 1);
	last.slots++;
	passage.end_ns =
		travel_ns(tracks, zone, &passage.first, &last, passage.begin_ns);
	return passage;
}

u64 platter_end_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns)
{
	u64 end = sector + sectors;

	while (sector < end) {
		struct passage passage = passage_of(tracks, sector, end, from_ns);

		from_ns = passage.end_ns;
		sector = passage.stop;
		if (sector < end)
			from_ns += switch_ns;
	}
	return from_ns;
}

/*
 * Return platter_sent_ns() for one passage. The bus may wait at the beginning of each track and
 * after slipped sectors.
 */
static u64 sent_in_zone(const struct tracks *tracks, const struct passage *passage,
			u64 end, u64 bus_ps)
{
	const struct track_zone *zone = passage->view.zone;
	struct track_view view = passage->view;
	struct track_mark at = passage->first;
	u64 sent_ns = over_bus_ns(passage->begin_ns, end - passage->sector, bus_ps);
	u64 sector = passage->sector;

	for (;;) {
		u64 begin_ns;

		sector = track_sector(&view, sector, track_next(zone, &at));
		if (view.next_slip != view.last_slip &&
		    view.next_slip->sector <= sector)
			sector = view.next_slip->sector;
		if (sector >= passage->stop)
			return sent_ns;
		view = tracks_view(tracks, sector);
		at = mark_of(&view, sector);
		begin_ns = travel_ns(tracks, zone, &passage->first, &at,
				     passage->begin_ns);
		sent_ns = later(sent_ns, over_bus_ns(begin_ns, end - sector, bus_ps));
	}
}

u64 platter_sent_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns, u64 bus_ps, u64 *last_ns)
{
	u64 end = sector + sectors;
	u64 sent_ns = over_bus_ns(from_ns, sectors, bus_ps);

	*last_ns = from_ns;
	while (sector < end) {
		struct passage passage = passage_of(tracks, sector, end, from_ns);

		sent_ns = later(sent_ns, sent_in_zone(tracks, &passage, end, bus_ps));
		*last_ns = passage.end_ns;
		from_ns = passage.end_ns + switch_ns;
		sector = passage.stop;
	}
	return later(sent_ns, *last_ns);
}

u64 platter_next_ns(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		    u64 from_ns)
{
	u64 next = sector + sectors;
	struct track_view view = tracks_view(tracks, next);
	struct track_mark to = mark_of(&view, next);
	struct track_mark from;

	if (sector < view.zone->first) {
		u64 before = view.zone->first - sector;

		from_ns = switch_ns +
			  platter_end_ns(tracks, switch_ns, sector, before, from_ns);
		sector = view.zone->first;
	}
	view = tracks_view(tracks, sector);
	from = mark_of(&view, sector);
	from_ns = platter_passes_ns(tracks, angle_of(view.zone, &from), from_ns);
	return travel_ns(tracks, view.zone, &from, &to, from_ns);
}

/*
 * Return the beginning of the track under the head at now_ns, or the beginning of the passage if
 * that passes later.
 */
static struct track_mark track_at(const struct tracks *tracks,
				  const struct passage *passage, u64 now_ns,
				  u64 *began_ns)
{
	const struct track_zone *zone = passage->view.zone;
	u64 places = port_mul_div(now_ns - passage->begin_ns, tracks->velocity,
				  zone->slot); /* if tracks had no skew */
	struct track_mark at = passage->first;
	struct track_mark far = track_mark(zone, at.place + places);
	u64 low = track_number(zone, &at);
	u64 high = track_number(zone, &far);

	*began_ns = passage->begin_ns;
	while (low < high) {
		u64 middle = high - (high - low) / 2;
		struct track_mark begin = track_first(zone, middle);
		u64 ns = travel_ns(tracks, zone, &passage->first, &begin,
				   passage->begin_ns);

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

/* Return platter_passed() for a passage that has not ended. */
static u64 passed_in_zone(const struct tracks *tracks, const struct passage *passage,
			  u64 now_ns)
{
	const struct track_zone *zone = passage->view.zone;
	struct track_mark at;
	u64 began_ns, on_track, next;

	if (now_ns <= passage->begin_ns)
		return 0;
	at = track_at(tracks, passage, now_ns, &began_ns);
	on_track = port_mul_div(now_ns - began_ns, tracks->velocity, zone->slot);
	next = track_next(zone, &at);
	return track_sector(&passage->view, passage->sector,
			    nearer(at.place + on_track, next)) -
	       passage->sector;
}

u64 platter_passed(const struct tracks *tracks, u64 switch_ns, u64 sector, u64 sectors,
		   u64 from_ns, u64 now_ns)
{
	u64 end = sector + sectors;
	u64 at = sector;

	while (at < end) {
		struct passage passage = passage_of(tracks, at, end, from_ns);

		if (now_ns < passage.end_ns)
			return at - sector + passed_in_zone(tracks, &passage, now_ns);
		at = passage.stop;
		from_ns = passage.end_ns + switch_ns;
	}
	return sectors;
}

u64 platter_slowest_ns(const struct tracks *tracks)
{
	u64 slowest = 0;
	u32 i;

	if (!tracks->velocity)
		return 0;
	for (i = 0; i < tracks->nr_zones; i++)
		slowest = later(slowest, tracks->zone[i].slot);
	return port_mul_div(slowest, 1, tracks->velocity) + 1;
}
