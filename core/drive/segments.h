/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The segments of a drive's cache: each holds one span of sectors. The least recently used segment
 * is emptied for new data (Ruemmler and Wilkes 1994, "Disk caching").
 */
#ifndef UNDERSTUDY_SEGMENTS_H
#define UNDERSTUDY_SEGMENTS_H

#include "../port.h"

#define SEGMENTS_MAX 256
#define SEGMENTS_NONE U32_MAX

/*
 * Sectors [start, end). asked: end of the last read from the segment. used: the number of uses of
 * all segments when this one was last used. An empty segment is all 0.
 */
struct segment {
	u64 start, end;
	u64 asked;
	u64 used;
};

/**
 * struct segments - all segments; if zeroed, there are none
 * @nr: number of segments, 0 to SEGMENTS_MAX
 * @sectors: size of each segment
 * @uses: number of uses of all segments
 * @segment: the segments
 *
 * @nr and @sectors are parameters.
 */
struct segments {
	u64 nr;
	u64 sectors;
	u64 uses;
	struct segment segment[SEGMENTS_MAX];
};

/*
 * Return the index of the segment that holds the sector or ends right before it; of several, the
 * one that extends farthest. SEGMENTS_NONE if there is none.
 */
u32 segments_find(const struct segments *segments, u64 sector);

/* Empty the least recently used segment and return its index. There must be a segment. */
u32 segments_take(struct segments *segments);

/* Make the segment the most recently used one, after a hit. */
void segments_use(struct segments *segments, u32 index);

/*
 * Set the end of the segment's span. If the span is then longer than a segment, its beginning is
 * dropped.
 */
void segments_trim(struct segments *segments, u32 index, u64 end);

/* Empty every segment that overlaps the span. */
void segments_drop(struct segments *segments, u64 sector, u64 sectors);

/* Empty all segments; parameters stay. */
void segments_clear(struct segments *segments);

#endif
