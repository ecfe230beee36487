// SPDX-License-Identifier: MIT
/*
 * Data in the write cache that are not on the medium yet: extents of consecutive sectors. No two
 * extents overlap or are adjacent, except that another extent may overlap or adjoin the one being
 * written, called the extent under way (RW94, "Caching of writes").
 *
 * While `under_way` is set, the extent under way is extent[0]; its start increases as it is
 * written.
 */
#ifndef DRIVES_DIRTY_H
#define DRIVES_DIRTY_H

#include <stdint.h>

struct extent {
	uint64_t start, end;
};

struct dirty {
	struct extent *extent;
	uint32_t n;
	uint32_t max;
	uint64_t sectors;
	uint64_t max_sectors;
	int under_way;
};

/* Returns 0, or -1 if there is no memory. */
int dirty_init(struct dirty *dirty, uint32_t max, uint64_t max_sectors);
void dirty_exit(struct dirty *dirty);
void dirty_clear(struct dirty *dirty);

/* The first extent that overlaps [start, end), or -1. */
int dirty_overlapping(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Is all of [start, end) in one extent? */
int dirty_holds(const struct dirty *dirty, uint64_t start, uint64_t end);

/* The first dirty sector in [start, end), or end. */
uint64_t dirty_first(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Number of sectors that must be destaged to make room for [start, end). */
uint64_t dirty_lacks(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Can [start, end) be added? There is room, a free extent, and no part is being written. */
int dirty_fits(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Add [start, end), which fits, and join it to extents that it overlaps or continues. */
void dirty_add(struct dirty *dirty, uint64_t start, uint64_t end);

/* Make extent i the extent under way. */
void dirty_begin(struct dirty *dirty, uint32_t i);

/* Stop writing the extent under way; its remaining sectors become an ordinary extent. */
void dirty_pause(struct dirty *dirty);

/* Record that the extent under way is on the medium up to this sector; at its end, remove it. */
void dirty_put(struct dirty *dirty, uint64_t up_to);

#endif
