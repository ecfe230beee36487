/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The segments of a drive's cache: each holds one span of sectors.  The one that was used
 * longest ago is given up for new data (Ruemmler and Wilkes 1994, "Disk caching").
 */
#ifndef UNDERSTUDY_SEGMENTS_H
#define UNDERSTUDY_SEGMENTS_H

#include "../port.h"

#define SEGMENTS_MAX 256
#define SEGMENTS_NONE U32_MAX

/* Sectors [start, end); asked: where the last read from it ended; used: when, as a count of uses.
 * An empty one is all 0. */
struct segment {
	u64 start, end;
	u64 asked;
	u64 used;
};

/**
 * struct segments - all of them, usable when zeroed: none
 * @nr: how many, 0 to SEGMENTS_MAX
 * @sectors: each one's size
 * @uses: so far
 * @segment: the segments
 *
 * The first two are parameters.
 */
struct segments {
	u64 nr;
	u64 sectors;
	u64 uses;
	struct segment segment[SEGMENTS_MAX];
};

/* Index of the one whose span, or the place right after it, holds that sector: of several,
 * the one that goes on farthest.  SEGMENTS_NONE if none does. */
u32 segments_find(const struct segments *segments, u64 sector);

/* Empty the one that is to be given up; returns its index.  There must be one. */
u32 segments_take(struct segments *segments);

/* A hit: it is young again. */
void segments_use(struct segments *segments, u32 index);

/* It goes up to there; if it is full it keeps its tail. */
void segments_trim(struct segments *segments, u32 index, u64 end);

/* Forget every segment that overlaps the span. */
void segments_drop(struct segments *segments, u64 sector, u64 sectors);

/* Forget everything; parameters stay. */
void segments_clear(struct segments *segments);

#endif
