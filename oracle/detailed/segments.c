// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "segments.h"

int segments_init(struct segments *segments, uint32_t n, uint32_t sectors)
{
	segments->segment = n ? calloc(n, sizeof(*segments->segment)) : NULL;
	segments->n = n;
	segments->sectors = sectors;
	segments->total = (uint64_t)n * sectors;
	segments->uses = 0;
	return n && !segments->segment ? -1 : 0;
}

void segments_exit(struct segments *segments)
{
	free(segments->segment);
}

void segments_clear(struct segments *segments)
{
	if (segments->n)
		memset(segments->segment, 0, segments->n * sizeof(*segments->segment));
	segments->uses = 0;
}

void segments_cut(struct segments *segments, uint32_t n)
{
	segments->n = n;
	segments->sectors = segments->total / n;
	segments_clear(segments);
}

struct segment *segments_find(const struct segments *segments, uint64_t sector)
{
	struct segment *found = NULL;
	uint32_t i;

	for (i = 0; i < segments->n; i++) {
		struct segment *segment = &segments->segment[i];

		if (segment->start <= sector && sector < segment->end &&
		    (!found || found->end < segment->end))
			found = segment;
	}
	return found;
}

struct segment *segments_take(struct segments *segments, uint64_t sector)
{
	struct segment *oldest = segments->n ? &segments->segment[0] : NULL;
	uint32_t i;

	for (i = 0; i < segments->n; i++) {
		struct segment *segment = &segments->segment[i];

		if (segment->used && segment->end == sector)
			return segment;
		if (segment->used < oldest->used)
			oldest = segment;
	}
	if (oldest)
		*oldest = (struct segment){ sector, sector, UINT64_MAX, 0 };
	return oldest;
}

void segment_grow(const struct segments *segments, struct segment *segment,
		  uint64_t end)
{
	segment->end = end;
	if (segment->start + segments->sectors < end)
		segment->start = end - segments->sectors;
}

void segment_use(struct segments *segments, struct segment *segment, uint64_t host_end)
{
	segment->host_end = host_end;
	segment->used = ++segments->uses;
}

void segments_forget(struct segments *segments, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < segments->n; i++) {
		struct segment *segment = &segments->segment[i];

		if (segment->start < end && start < segment->end)
			memset(segment, 0, sizeof(*segment));
	}
}
