// SPDX-License-Identifier: MIT
/*
 * Data in the write cache that are not on the medium yet, as extents of consecutive sectors. The
 * extent that is being written is called the extent under way (RW94, "Caching of writes"). Extents
 * never overlap and are never adjacent, with one exception: another extent may overlap or adjoin
 * the extent under way.
 *
 * While `under_way` is set, the extent under way is extent[0]. Its start increases as it is
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

/* Return the index of the first extent that overlaps [start, end), or -1. */
int dirty_overlapping(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Return whether all of [start, end) is in one extent. */
int dirty_holds(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Return the first dirty sector in [start, end), or end. */
uint64_t dirty_first(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Return the number of sectors that must be destaged to make space for [start, end). */
uint64_t dirty_lacks(const struct dirty *dirty, uint64_t start, uint64_t end);

/*
 * Return whether [start, end) can be added. The cache must have space for its sectors. It must join
 * an extent, or there must be a free extent. And no part of it may be in the extent under way.
 */
int dirty_fits(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Add [start, end), which must fit, and join it to the extents that it overlaps or continues. */
void dirty_add(struct dirty *dirty, uint64_t start, uint64_t end);

/* Make extent i the extent under way. */
void dirty_begin(struct dirty *dirty, uint32_t i);

/* Stop writing the extent under way. Its remaining sectors become an ordinary extent. */
void dirty_pause(struct dirty *dirty);

/*
 * Record that the sectors of the extent under way before `up_to` are on the medium. Remove the
 * extent if these are all its sectors.
 */
void dirty_put(struct dirty *dirty, uint64_t up_to);

#endif
