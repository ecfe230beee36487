// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "tracks.h"

static bool zone_is_sound(const struct curve_point *zone, u64 end)
{
	return zone->value && zone->value <= TRACKS_SECTORS_MAX && zone->at < end &&
	       zone->value <= end - zone->at;
}

int tracks_check(const struct curve *tracks, u64 capacity_sectors)
{
	const struct curve_point *zone = tracks->point;
	u32 i;

	if (tracks->nr_points > CURVE_POINTS_MAX || (tracks->nr_points && zone->at))
		return -EINVAL;
	for (i = 0; i < tracks->nr_points; i++) {
		bool last = i + 1 == tracks->nr_points;

		if (!zone_is_sound(zone + i, last ? capacity_sectors : zone[i + 1].at))
			return -EINVAL;
	}
	return 0;
}

u32 tracks_zone(const struct curve *tracks, u64 sector)
{
	const struct curve_point *low = tracks->point;
	const struct curve_point *high = tracks->point + tracks->nr_points;

	while (high - low > 1) {
		const struct curve_point *middle = low + (high - low) / 2;

		if (middle->at <= sector)
			low = middle;
		else
			high = middle;
	}
	return low - tracks->point;
}

u64 tracks_end(const struct curve *tracks, u64 sector)
{
	const struct curve_point *zone, *next;
	u64 end;

	if (!tracks->nr_points)
		return U64_MAX;
	zone = tracks->point + tracks_zone(tracks, sector);
	next = zone + 1;
	end = zone->at +
	      (port_mul_div(sector - zone->at, 1, zone->value) + 1) * zone->value;
	return next < tracks->point + tracks->nr_points && next->at < end ? next->at
									  : end;
}

u64 tracks_shortest(const struct curve *tracks)
{
	u64 shortest = U64_MAX;
	u32 i;

	for (i = 0; i < tracks->nr_points; i++) {
		if (tracks->point[i].value < shortest)
			shortest = tracks->point[i].value;
	}
	return shortest;
}
