// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "at_size.h"
#include "names.h"
#include "../core/drive/settings.h"

#define SMALL_BYTES (16u << 20)
#define REAL_TRACK_SECTORS \
	800 /* a typical real track and one of Nachos (SIGCSE 2006, 2.3) */
#define TRACK_SECTORS 8
#define PS_PER_S 1000000000000ull
#define UNITS_MAX (1ull << 40)
#define WHOLE_MAX (1ull << 20)
#define RATE_MAX 1000000000000ull
#define TRACKS_MAX 65536

/* Return base + a * b / c, rounded to the nearest number, halves to the even one. */
static u64 rounded(u64 base, u64 a, u64 b, u64 c)
{
	u64 quotient = port_mul_div(a, b, c);
	u64 rest = a * b - quotient * c;
	u64 result = base + quotient;

	if (rest > c - rest || (rest == c - rest && result % 2))
		result++;
	return result;
}

static bool is_curve(const struct vesper_curve *curve, u32 least)
{
	const struct vesper_point *point = curve->point;
	u32 i;

	if (curve->points < least || curve->points > CURVE_POINTS_MAX || !point ||
	    !curve->whole || point[0].at)
		return false;
	for (i = 1; i < curve->points; i++) {
		if (point[i].at <= point[i - 1].at)
			return false;
	}
	return point[curve->points - 1].at <= curve->whole;
}

/* The line through two samples, at a place of a disk of `units`. */
static u64 on_line(const struct vesper_point *a, u64 whole, u64 place, u64 units)
{
	const struct vesper_point *b = a + 1;
	u64 length = (b->at - a->at) * units;
	u64 from_a = place * whole - a->at * units;

	if (a->value <= b->value)
		return rounded(a->value, b->value - a->value, from_a, length);
	return rounded(b->value, a->value - b->value, length - from_a, length);
}

/*
 * Write the seek curve for a disk of `units`: each sample moves to the nearest unit, and has the
 * curve's value there. Samples that meet become one.
 */
static int scale_seek(struct curve *to, struct curve_point room[AT_SIZE_POINTS],
		      const struct vesper_curve *from, u64 units)
{
	u32 last = from->points - 1, below = 0, i;

	to->nr_points = 0;
	to->point = room;
	for (i = 0; i <= last; i++) {
		u64 place = rounded(0, from->point[i].at, units, from->whole);

		if (i && room[to->nr_points - 1].at == place)
			continue;
		if (to->nr_points == AT_SIZE_POINTS)
			return VESPER_NO_PROFILE;
		while (below < last &&
		       from->point[below + 1].at * units <= place * from->whole)
			below++;
		room[to->nr_points++] = (struct curve_point){
			place, below == last ? from->point[last].value
					     : on_line(&from->point[below], from->whole,
						       place, units)
		};
	}
	return VESPER_OK;
}

/* Append a sample; false if there is no room. */
static bool append(struct curve *to, struct curve_point room[AT_SIZE_POINTS], u64 at,
		   u64 value)
{
	if (to->nr_points == AT_SIZE_POINTS)
		return false;
	room[to->nr_points++] = (struct curve_point){ at, value };
	return true;
}

/*
 * Write the transfer times: each rate holds from its place up to the next one's. Of rates that meet
 * at a unit, the last one counts. Equal neighbours are joined.
 */
static int scale_rates(struct curve *to, struct curve_point room[AT_SIZE_POINTS],
		       const struct vesper_curve *from, const struct size *size,
		       u64 real, u64 scaled)
{
	u64 value = 0;
	u32 i;

	to->nr_points = 0;
	to->point = room;
	for (i = 0; i < from->points; i++) {
		const struct vesper_point *zone = &from->point[i];
		u64 first = rounded(0, zone->at, size->units, from->whole);
		u64 ps;

		if (!zone->value || zone->value > RATE_MAX)
			return VESPER_NO_PROFILE;
		if (i + 1 < from->points &&
		    rounded(0, zone[1].at, size->units, from->whole) == first)
			continue;
		ps = rounded(0, size->unit_bytes * PS_PER_S, real,
			     zone->value * scaled);
		if (to->nr_points && ps == value)
			continue;
		if (to->nr_points && room[to->nr_points - 1].at != first - 1 &&
		    !append(to, room, first - 1, value))
			return VESPER_NO_PROFILE;
		if (!append(to, room, first, ps))
			return VESPER_NO_PROFILE;
		value = ps;
	}
	if (room[to->nr_points - 1].at != size->units &&
	    !append(to, room, size->units, value))
		return VESPER_NO_PROFILE;
	return VESPER_OK;
}

/* Set the ratio of a real track to a track of the disk; 1:1 if tracks are not scaled. */
static bool track_ratio(const struct vesper_profile *profile, const struct size *size,
			u64 *real, u64 *scaled)
{
	bool has = profile->real_track_sectors;
	bool is_small = size->units * size->unit_bytes < SMALL_BYTES;

	*real = *scaled = 1;
	if (has && (!profile->track_sectors || profile->track_sectors > TRACKS_MAX))
		return false;
	if (size->scaling == VESPER_SCALE_NEVER)
		return true;
	if (has) {
		*real = profile->real_track_sectors;
		*scaled = profile->track_sectors;
	} else if (is_small || size->scaling == VESPER_SCALE_ALWAYS) {
		*real = REAL_TRACK_SECTORS;
		*scaled = TRACK_SECTORS;
	}
	return true;
}

static int scale(struct timed_device *device, struct curve_room *room,
		 const struct vesper_profile *profile, const struct size *size)
{
	struct disk *disk = &device->drive.disk;
	u64 real, scaled;
	int result;

	if (profile->zones || profile->seek.whole > WHOLE_MAX ||
	    profile->rates.whole > WHOLE_MAX ||
	    !track_ratio(profile, size, &real, &scaled))
		return VESPER_NO_PROFILE;
	result = scale_seek(&disk->seek, room->seek, &profile->seek, size->units);
	if (result || !profile->rates.points)
		return result;
	return scale_rates(&disk->transfer, room->transfer, &profile->rates, size, real,
			   scaled);
}

static struct curve as_it_is(const struct vesper_curve *curve)
{
	return (struct curve){ curve->points, (const void *)curve->point };
}

/* A table that was made for one size holds the curves and the layout in the core's own units. */
static int take(struct timed_device *device, const struct vesper_profile *profile,
		const struct size *size)
{
	struct disk *disk = &device->drive.disk;

	if (size->unit_bytes != SECTOR_BYTES || size->units != profile->sectors)
		return VESPER_BAD_SIZE;
	disk->seek = as_it_is(&profile->seek);
	disk->transfer = as_it_is(&profile->rates);
	disk->tracks.zone = (const void *)profile->zone;
	disk->tracks.nr_zones = profile->zones;
	disk->tracks.slip = (const void *)profile->slip;
	disk->tracks.nr_slips = profile->slips;
	return VESPER_OK;
}

/* Convert a number of sectors, or the time of a sector, to units. */
static u64 in_units(const char *name, u64 value, u32 unit_bytes)
{
	u64 units = SECTOR_BYTES / unit_bytes;

	if (name_ends_in(name, "_sectors"))
		return value > U32_MAX / units ? U32_MAX : value * units;
	return name_ends_in(name, "sector_ps") ? value / units : value;
}

static bool set(struct timed_device *device, const struct vesper_setting *setting,
		u32 unit_bytes)
{
	u32 i;

	for (i = 0; i < nr_device_settings; i++) {
		const struct sched_field *field = &device_settings[i];
		u64 value = setting->value;

		if (!name_is(field->name, setting->name))
			continue;
		if (value < field->min || value > field->max)
			return false;
		*sched_field_value(device, field) =
			in_units(field->name, value, unit_bytes);
		return true;
	}
	return false;
}

int drive_at_size(struct timed_device *device, struct curve_room *room,
		  const struct vesper_profile *profile, const struct size *size)
{
	int result;
	u32 i;

	if (!is_curve(&profile->seek, 2) ||
	    (profile->rates.points && !is_curve(&profile->rates, 1)))
		return VESPER_NO_PROFILE;
	if (size->units > UNITS_MAX)
		return VESPER_BAD_SIZE;
	device->scale_milli = 1000;
	device->drive.disk.capacity_sectors = size->units;
	result = profile->sectors ? take(device, profile, size)
				  : scale(device, room, profile, size);
	if (result)
		return result;
	for (i = 0; i < profile->settings; i++) {
		if (!set(device, &profile->setting[i], size->unit_bytes))
			return VESPER_NO_PROFILE;
	}
	return VESPER_OK;
}
