// SPDX-License-Identifier: MIT
/*
 * The read cache: segments of equal size. Each holds a run of consecutive sectors, whose beginning
 * is overwritten as the run grows (RW94, "Data caching"; DISKSIM, "cache").
 */
#ifndef DRIVES_SEGMENTS_H
#define DRIVES_SEGMENTS_H

#include <stdint.h>

struct segment {
	uint64_t start, end; /* its sectors; none if these are equal */
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

/* Divide the same total size into n empty segments, at most as many as initially. */
void segments_cut(struct segments *segments, uint32_t n);

/*
 * The segment that holds this sector (of several, the one with the most sectors after it), or NULL.
 */
struct segment *segments_find(const struct segments *segments, uint64_t sector);

/*
 * A segment for a run that begins at this sector: the segment that ends here, or else the least
 * recently used one, emptied.
 */
struct segment *segments_take(struct segments *segments, uint64_t sector);

/* Extend the segment to `end`; if it then has too many sectors, it loses its beginning. */
void segment_grow(const struct segments *segments, struct segment *segment,
		  uint64_t end);

/* A request that ends at host_end used the segment. */
void segment_use(struct segments *segments, struct segment *segment, uint64_t host_end);

/* Remove [start, end) from all segments. */
void segments_forget(struct segments *segments, uint64_t start, uint64_t end);

#endif
