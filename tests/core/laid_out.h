/* SPDX-License-Identifier: MIT */
/*
 * Memory for the arrays that disks point to.  It is reused in a ring: an array lasts
 * until a test has made some thousand more.  A test may change samples and zones in
 * place.
 */
#ifndef UNDERSTUDY_TEST_LAID_OUT_H
#define UNDERSTUDY_TEST_LAID_OUT_H

#include <string.h>

#include "../../core/drive/disk.h"

#define KEPT_ROWS (1u << 14)

static inline struct curve curve_of(u32 nr, const struct curve_point *point)
{
	static struct curve_point kept[KEPT_ROWS];
	static u32 used;

	used = nr > KEPT_ROWS - used ? 0 : used;
	memcpy(kept + used, point, nr * sizeof(*point));
	used += nr;
	return (struct curve){ nr, kept + used - nr };
}

static inline struct tracks zones_of(u32 nr, const struct track_zone *zone)
{
	static struct track_zone kept[KEPT_ROWS];
	static u32 used;

	used = nr > KEPT_ROWS - used ? 0 : used;
	memcpy(kept + used, zone, nr * sizeof(*zone));
	used += nr;
	return (struct tracks){ .nr_zones = nr, .zone = kept + used - nr };
}

#define ROWS(type, ...)                                             \
	ARRAY_SIZE(((const type[]){ __VA_ARGS__ })), (const type[]) \
	{                                                           \
		__VA_ARGS__                                         \
	}
#define CURVE(...) curve_of(ROWS(struct curve_point, __VA_ARGS__))
#define ZONES(...) zones_of(ROWS(struct track_zone, __VA_ARGS__))
#define SAMPLE(curve, i) (((struct curve_point *)(curve).point)[i])
#define ZONE(disk, i) (((struct track_zone *)(disk).tracks.zone)[i])

static inline void linear(struct disk *disk, u64 capacity_sectors, u64 intercept_ns,
			  u64 full_seek_ns)
{
	struct curve line = CURVE({ 0, 0 }, { 0, 0 });

	disk_set_linear(disk, &SAMPLE(line, 0), capacity_sectors, intercept_ns,
			full_seek_ns);
}

#endif
