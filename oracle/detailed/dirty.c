// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "dirty.h"

int dirty_init(struct dirty *dirty, uint32_t max, uint64_t max_sectors)
{
	dirty->extent = max ? calloc(max, sizeof(*dirty->extent)) : NULL;
	dirty->max = max;
	dirty->max_sectors = max_sectors;
	dirty_clear(dirty);
	return max && !dirty->extent ? -1 : 0;
}

void dirty_exit(struct dirty *dirty)
{
	free(dirty->extent);
}

void dirty_clear(struct dirty *dirty)
{
	dirty->n = 0;
	dirty->sectors = 0;
	dirty->under_way = 0;
}

static uint64_t common(const struct extent *extent, uint64_t start, uint64_t end)
{
	if (start < extent->start)
		start = extent->start;
	if (end > extent->end)
		end = extent->end;
	return start < end ? end - start : 0;
}

int dirty_overlapping(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < dirty->n; i++) {
		if (common(&dirty->extent[i], start, end))
			return i;
	}
	return -1;
}

int dirty_holds(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	int i = dirty_overlapping(dirty, start, end);

	return i >= 0 && common(&dirty->extent[i], start, end) == end - start;
}

uint64_t dirty_first(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < dirty->n; i++) {
		if (!common(&dirty->extent[i], start, end))
			continue;
		end = dirty->extent[i].start > start ? dirty->extent[i].start : start;
	}
	return end;
}

static uint64_t new_sectors(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	uint64_t n = end - start;
	uint32_t i;

	for (i = 0; i < dirty->n; i++)
		n -= common(&dirty->extent[i], start, end);
	return n;
}

uint64_t dirty_lacks(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	uint64_t sum = dirty->sectors + new_sectors(dirty, start, end);

	return sum > dirty->max_sectors ? sum - dirty->max_sectors : 0;
}

/*
 * Return whether [start, end) can be joined to extent i. Data can only be appended to the extent
 * under way, but can be joined to any other extent on both sides.
 */
static int joins(const struct dirty *dirty, uint32_t i, uint64_t start, uint64_t end)
{
	const struct extent *extent = &dirty->extent[i];

	if (dirty->under_way && i == 0)
		return start == extent->end;
	return start <= extent->end && extent->start <= end;
}

int dirty_fits(const struct dirty *dirty, uint64_t start, uint64_t end)
{
	uint32_t i;

	if (dirty_lacks(dirty, start, end))
		return 0;
	if (dirty->under_way && common(&dirty->extent[0], start, end))
		return 0;
	for (i = 0; i < dirty->n; i++) {
		if (joins(dirty, i, start, end))
			return 1;
	}
	return dirty->n < dirty->max;
}

static void widen(struct extent *extent, uint64_t start, uint64_t end)
{
	if (start < extent->start)
		extent->start = start;
	if (end > extent->end)
		extent->end = end;
}

void dirty_add(struct dirty *dirty, uint64_t start, uint64_t end)
{
	struct extent sum = { start, end };
	uint32_t i, kept = 0, joined = dirty->n;

	dirty->sectors += new_sectors(dirty, start, end);
	for (i = 0; i < dirty->n; i++) {
		struct extent extent = dirty->extent[i];

		if (!joins(dirty, i, start, end)) {
			dirty->extent[kept++] = extent;
			continue;
		}
		widen(&sum, extent.start, extent.end);
		if (joined == dirty->n)
			joined = kept++;
	}
	if (joined == dirty->n)
		joined = kept++;
	dirty->extent[joined] = sum;
	dirty->n = kept;
}

void dirty_begin(struct dirty *dirty, uint32_t i)
{
	struct extent extent = dirty->extent[i];

	for (; i > 0; i--)
		dirty->extent[i] = dirty->extent[i - 1];
	dirty->extent[0] = extent;
	dirty->under_way = 1;
}

void dirty_pause(struct dirty *dirty)
{
	dirty->under_way = 0;
}

void dirty_put(struct dirty *dirty, uint64_t up_to)
{
	uint32_t i;

	dirty->sectors -= up_to - dirty->extent[0].start;
	dirty->extent[0].start = up_to;
	if (up_to < dirty->extent[0].end)
		return;
	dirty->under_way = 0;
	dirty->n--;
	for (i = 0; i < dirty->n; i++)
		dirty->extent[i] = dirty->extent[i + 1];
}
