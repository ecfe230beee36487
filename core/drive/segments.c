// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "segments.h"
#include "../least.h"
#include "../span.h"

u32 segments_find(const struct segments *segments, u64 sector)
{
	const struct segment *end = segments->segment + segments->nr;
	const struct segment *found = NULL;
	const struct segment *segment;

#pragma GCC unroll 4
	for (segment = segments->segment; segment < end; segment++) {
		if (!span_reaches(segment->start, segment->end, sector))
			continue;
		if (segment->end && (!found || segment->end > found->end))
			found = segment;
	}
	return found ? found - segments->segment : SEGMENTS_NONE;
}

u32 segments_take(struct segments *segments)
{
	struct segment *segment = segments->segment;
	u64 used = segment[0].used;
	u32 oldest = 0;
	u32 i;

#pragma GCC unroll 4
	for (i = 1; i < segments->nr; i++) {
		if (segment[i].used >= used)
			continue;
		used = segment[i].used;
		oldest = i;
	}
	segment[oldest] = (struct segment){ .used = ++segments->uses };
	return oldest;
}

void segments_use(struct segments *segments, u32 index)
{
	segments->segment[index].used = ++segments->uses;
}

void segments_drop(struct segments *segments, u64 sector, u64 sectors)
{
	struct segment *segment = segments->segment;
	u32 i;

	for (i = 0; i < segments->nr; i++) {
		if (span_touches(segment[i].start, segment[i].end, sector, sectors))
			segment[i] = (struct segment){ 0 };
	}
}

void segments_clear(struct segments *segments)
{
	memset(segments->segment, 0, sizeof(segments->segment));
	segments->uses = 0;
}

void segments_trim(struct segments *segments, u32 index, u64 end)
{
	struct segment *segment = &segments->segment[index];

	segment->end =
		later(end, segment->start); /* a rounded time may lack a sector */
	if (segment->start + segments->sectors < end)
		segment->start = end - segments->sectors;
}
