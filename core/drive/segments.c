// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "segments.h"
#include "../least.h"
#include "../span.h"

u32 segments_find(const struct segments *segments, u64 sector)
{
	const struct segment *end = segments->segment + segments->nr;
	const struct segment *best = NULL;
	const struct segment *segment;

#pragma GCC unroll 4
	for (segment = segments->segment; segment < end; segment++) {
		if (!span_reaches(segment->start, segment->end, sector))
			continue;
		if (segment->end && (!best || segment->end > best->end))
			best = segment;
	}
	return best ? best - segments->segment : SEGMENTS_NONE;
}

u32 segments_take(struct segments *segments)
{
	const struct segment *end = segments->segment + segments->nr;
	struct segment *oldest = segments->segment;
	struct segment *segment;

#pragma GCC unroll 4
	for (segment = oldest + 1; segment < end; segment++) {
		if (segment->used < oldest->used)
			oldest = segment;
	}
	*oldest = (struct segment){ .used = ++segments->uses };
	return oldest - segments->segment;
}

void segments_use(struct segments *segments, u32 index)
{
	segments->segment[index].used = ++segments->uses;
}

void segments_drop(struct segments *segments, u64 sector, u64 sectors)
{
	const struct segment *end = segments->segment + segments->nr;
	struct segment *segment;

	for (segment = segments->segment; segment < end; segment++) {
		if (span_touches(segment->start, segment->end, sector, sectors))
			*segment = (struct segment){ 0 };
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

	segment->end = later(
		end, segment->start); /* rounding of a time may have lost a sector */
	if (segment->start + segments->sectors < end)
		segment->start = end - segments->sectors;
}
