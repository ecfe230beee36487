// SPDX-License-Identifier: MIT
#include "layout.h"

/* A track, and how many head and cylinder switches precede it in its zone. */
struct track {
	uint32_t cylinder; /* in the zone */
	uint32_t head;
	uint64_t head_switches;
	uint64_t cylinder_switches;
};

static uint64_t zone_tracks(const struct layout *layout, uint32_t zone)
{
	const struct detailed_zone *z = &layout->parameters->zone[zone];

	return (uint64_t)z->cylinders * layout->parameters->heads - z->spare_tracks;
}

void layout_init(struct layout *layout, const struct detailed_parameters *parameters)
{
	uint32_t i;

	layout->parameters = parameters;
	layout->first_sector[0] = 0;
	layout->first_cylinder[0] = 0;
	for (i = 0; i < parameters->zones; i++) {
		layout->first_sector[i + 1] =
			layout->first_sector[i] +
			zone_tracks(layout, i) * parameters->zone[i].sectors;
		layout->first_cylinder[i + 1] =
			layout->first_cylinder[i] + parameters->zone[i].cylinders;
	}
}

uint64_t layout_capacity(const struct layout *layout)
{
	return layout->first_sector[layout->parameters->zones];
}

static uint32_t zone_of(const struct layout *layout, uint64_t sector)
{
	uint32_t low = 0, high = layout->parameters->zones;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (layout->first_sector[middle] <= sector)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void cylinder_by_cylinder(uint32_t heads, int serpentine, uint64_t index,
				 struct track *track)
{
	uint32_t head = index % heads;

	track->cylinder = index / heads;
	track->head = serpentine && track->cylinder % 2 ? heads - 1 - head : head;
	track->cylinder_switches = track->cylinder;
	track->head_switches = index - track->cylinder;
}

/*
 * A band's tracks are numbered surface by surface; on odd surfaces, from its last cylinder to its
 * first.
 */
static void surface_by_surface(uint32_t heads, uint32_t cylinders,
			       uint32_t band_cylinders, uint64_t index,
			       struct track *track)
{
	uint64_t band_tracks = (uint64_t)band_cylinders * heads;
	uint64_t band = index / band_tracks, in_band = index % band_tracks;
	uint32_t first = band * band_cylinders;
	uint32_t size =
		cylinders - first < band_cylinders ? cylinders - first : band_cylinders;
	uint32_t along = in_band % size;

	track->head = in_band / size;
	track->cylinder = first + (track->head % 2 ? size - 1 - along : along);
	track->cylinder_switches = band * ((band_cylinders - 1) * (uint64_t)heads + 1) +
				   track->head * (uint64_t)(size - 1) + along;
	track->head_switches = index - track->cylinder_switches;
}

static void find_track(const struct detailed_parameters *p,
		       const struct detailed_zone *zone, uint64_t index,
		       struct track *track)
{
	uint32_t band = p->band_cylinders;

	if (band == 0 || band > zone->cylinders)
		band = zone->cylinders;
	if (p->layout == DETAILED_SURFACE_SERPENTINE)
		surface_by_surface(p->heads, zone->cylinders, band, index, track);
	else
		cylinder_by_cylinder(p->heads,
				     p->layout == DETAILED_CYLINDER_SERPENTINE, index,
				     track);
}

void layout_find(const struct layout *layout, uint64_t sector, struct place *place)
{
	const struct detailed_parameters *p = layout->parameters;
	uint32_t i = zone_of(layout, sector);
	const struct detailed_zone *zone = &p->zone[i];
	uint64_t in_zone = sector - layout->first_sector[i];
	struct track track;
	uint64_t skew;

	find_track(p, zone, in_zone / zone->sectors, &track);
	place->slots = zone->sectors + zone->spare_sectors;
	place->at.cylinder = layout->first_cylinder[i] + track.cylinder;
	place->at.head = track.head;
	place->at.slot = in_zone % zone->sectors;
	place->left = zone->sectors - place->at.slot;
	skew = track.head_switches * zone->track_skew +
	       track.cylinder_switches * zone->cylinder_skew;
	place->at.angle =
		(double)((skew + place->at.slot) % place->slots) / place->slots;
}
