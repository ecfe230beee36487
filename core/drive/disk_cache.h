/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The papers' on-board cache: segments that each hold one span of sectors, fully associative,
 * replaced in order of insertion (PERFORM 2010 section 3, Jones 2010 section 4.3.3). A read is a
 * hit if one segment holds all of it. If a span is longer than a segment, the segment keeps only
 * the end of the span.
 *
 * Two callers fill this cache by different rules: the device inserts a read only on a miss, the
 * shadow cache of CATS inserts every dispatched read. A write drops each segment that it overlaps.
 * This is the project's choice: the papers do not mention writes.
 */
#ifndef UNDERSTUDY_DISK_CACHE_H
#define UNDERSTUDY_DISK_CACHE_H

#include "../port.h"

#define DISK_CACHE_SEGMENTS_MAX 512
#define DISK_CACHE_PARTS 1024

/* Sectors [start, end); empty if start == end. */
struct disk_span {
	u64 start, end;
};

/**
 * struct disk_cache - a cache, usable when zeroed: no segments, no hits
 * @segments: number of segments, 0 to DISK_CACHE_SEGMENTS_MAX
 * @segment_sectors: size of a segment
 * @prefetch_sectors: sectors read ahead after each miss
 * @next: segment to overwrite next
 * @longest: upper bound of the length of each span
 * @part: binary logarithm of the number of sectors in a part of the disk; no span is longer than a
 *	part
 * @begun: number of spans that begin in each part; parts whose numbers differ by a multiple of
 *	DISK_CACHE_PARTS share a counter
 * @span: the segments
 *
 * @segments, @segment_sectors and @prefetch_sectors are parameters and may change at any time.
 */
struct disk_cache {
	u64 segments;
	u64 segment_sectors;
	u64 prefetch_sectors;
	u64 next;
	u64 longest;
	u32 part;
	u16 begun[DISK_CACHE_PARTS];
	struct disk_span span[DISK_CACHE_SEGMENTS_MAX];
};

/* Return whether one segment holds the whole span. */
bool disk_cache_holds(const struct disk_cache *cache, u64 sector, u32 sectors);

/*
 * Overwrite the oldest segment with the span and the sectors read ahead after it. Returns the span
 * that the segment then holds.
 */
struct disk_span disk_cache_insert(struct disk_cache *cache, u64 sector, u32 sectors);

/* Forget every segment that overlaps the span. */
void disk_cache_drop(struct disk_cache *cache, u64 sector, u32 sectors);

/* Forget everything; parameters stay. */
void disk_cache_clear(struct disk_cache *cache);

#endif
