// SPDX-License-Identifier: MIT
/*
 * The read cache: segments of equal size. Each segment holds a run of consecutive sectors. A run
 * that outgrows its segment loses its first sectors (RW94, "Data caching"; DISKSIM, "cache").
 */
#ifndef DRIVES_SEGMENTS_H
#define DRIVES_SEGMENTS_H

#include <stdint.h>

struct segment {
	uint64_t start, end; /* its sectors; empty if start equals end */
	uint64_t host_end; /* end of the last request served from it */
	uint64_t used; /* last use, counted in requests */
};

struct segments {
	struct segment *segment;
	uint32_t n;
	uint32_t sectors; /* size of each segment */
	uint64_t total;
	uint64_t uses;
};

/* Returns 0, or -1 if there is no memory. */
int segments_init(struct segments *segments, uint32_t n, uint32_t sectors);
void segments_exit(struct segments *segments);
void segments_clear(struct segments *segments);

/* Divide the cache into n empty segments, at most as many as segments_init() made. */
void segments_cut(struct segments *segments, uint32_t n);

/*
 * Return the segment that holds this sector, or NULL. If several segments do, return the one with
 * the most sectors after it.
 */
struct segment *segments_find(const struct segments *segments, uint64_t sector);

/*
 * Return a segment for a run that begins at this sector: the segment whose run ends just before the
 * sector, or else the least recently used segment, emptied.
 */
struct segment *segments_take(struct segments *segments, uint64_t sector);

/* Extend the segment to `end`; if it then has too many sectors, drop its first ones. */
void segment_grow(const struct segments *segments, struct segment *segment,
		  uint64_t end);

/* Record that a request that ends at host_end used the segment. */
void segment_use(struct segments *segments, struct segment *segment, uint64_t host_end);

/* Remove [start, end) from all segments. */
void segments_forget(struct segments *segments, uint64_t start, uint64_t end);

#endif
