// SPDX-License-Identifier: MIT
/*
 * The read cache: segments of equal size, each a run of consecutive sectors that is
 * overwritten from its beginning as it grows (RW94, "Data caching"; DISKSIM, "cache").
 */
#ifndef DRIVES_SEGMENTS_H
#define DRIVES_SEGMENTS_H

#include <stdint.h>

struct segment {
	uint64_t start, end; /* what it holds; equal: nothing */
	uint64_t host_end; /* where the last request in it ended */
	uint64_t used; /* when, counted in requests */
};

struct segments {
	struct segment *segment;
	uint32_t n;
	uint32_t sectors; /* of each */
	uint64_t total;
	uint64_t uses;
};

/* 0, or -1: no memory. */
int segments_init(struct segments *segments, uint32_t n, uint32_t sectors);
void segments_exit(struct segments *segments);
void segments_clear(struct segments *segments);

/* As many, at most those of the beginning, empty, of what all had together. */
void segments_cut(struct segments *segments, uint32_t n);

/* The segment that holds this sector and the most after it, or NULL. */
struct segment *segments_find(const struct segments *segments, uint64_t sector);

/* The segment for a run that begins here: the one that ends here, or the oldest, emptied. */
struct segment *segments_take(struct segments *segments, uint64_t sector);

/* It holds what lies before this sector, as far as there is room. */
void segment_grow(const struct segments *segments, struct segment *segment,
		  uint64_t end);

/* A request that ends here used it. */
void segment_use(struct segments *segments, struct segment *segment, uint64_t host_end);

/* Nothing of [start, end) is held any more. */
void segments_forget(struct segments *segments, uint64_t start, uint64_t end);

#endif
