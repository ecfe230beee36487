// SPDX-License-Identifier: MIT
/*
 * Data in the write cache that are not on the medium yet: extents of consecutive sectors
 * that neither overlap nor, but for the one under way, touch (RW94, "Caching of writes").
 *
 * The extent under way is extent[0] while `under_way` is set: it shrinks from its beginning.
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

/* 0, or -1: no memory. */
int dirty_init(struct dirty *dirty, uint32_t max, uint64_t max_sectors);
void dirty_exit(struct dirty *dirty);
void dirty_clear(struct dirty *dirty);

/* The first extent that has a sector of [start, end), or -1. */
int dirty_overlapping(const struct dirty *dirty, uint64_t start, uint64_t end);

/* All of [start, end) is in one extent. */
int dirty_holds(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Where the first dirty sector in [start, end) is, or end. */
uint64_t dirty_first(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Sectors of room that [start, end) lacks. */
uint64_t dirty_lacks(const struct dirty *dirty, uint64_t start, uint64_t end);

/* [start, end) can be added: room, a place, and nothing of it is just being written. */
int dirty_fits(const struct dirty *dirty, uint64_t start, uint64_t end);

/* Add what fits, joined to what it overlaps or continues. */
void dirty_add(struct dirty *dirty, uint64_t start, uint64_t end);

/* Extent i is under way from now on. */
void dirty_begin(struct dirty *dirty, uint32_t i);

/* What is under way is left for later. */
void dirty_pause(struct dirty *dirty);

/* What is under way is on the medium up to here; when it is all there, it is gone. */
void dirty_put(struct dirty *dirty, uint64_t up_to);

#endif
