// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "disk_cache.h"
#include "../span.h"

static u64 slot(u64 part)
{
	return part % DISK_CACHE_PARTS;
}

static void count(struct disk_cache *cache, const struct disk_span *span, int one)
{
	if (span->end)
		cache->begun[slot(span->start >> cache->part)] += one;
}

static void put(struct disk_cache *cache, struct disk_span *span, struct disk_span is)
{
	count(cache, span, -1);
	*span = is;
	count(cache, span, 1);
}

static void make_longer(struct disk_cache *cache, u64 sectors)
{
	u32 i;

	cache->longest = sectors;
	while (cache->part < 63 && 1ull << cache->part < sectors)
		cache->part++;
	memset(cache->begun, 0, sizeof(cache->begun));
	for (i = 0; i < DISK_CACHE_SEGMENTS_MAX; i++)
		count(cache, &cache->span[i], 1);
}

/*
 * A span that holds the sector begins in the sector's part of the disk or in the part before it.
 * Usually no span begins in either part, and no segment need be searched. In the loop, the first
 * comparison nearly always fails, so the processor predicts it well. For a sector before the span,
 * the difference wraps around to a huge number.
 */
bool disk_cache_holds(const struct disk_cache *cache, u64 sector, u32 sectors)
{
	const struct disk_span *end = cache->span + cache->segments;
	const struct disk_span *span;
	u64 part = sector >> cache->part;

	if (!cache->begun[slot(part)] && !cache->begun[slot(part - 1)])
		return false;
#pragma GCC unroll 8
	for (span = cache->span; span < end; span++) {
		if (sector - span->start < cache->longest &&
		    sector + sectors <= span->end)
			return true;
	}
	return false;
}

struct disk_span disk_cache_insert(struct disk_cache *cache, u64 sector, u32 sectors)
{
	u64 end = sector + sectors + cache->prefetch_sectors;
	u64 start = sector;

	if (!cache->segments)
		return (struct disk_span){ 0, 0 };
	if (end - start > cache->segment_sectors)
		start = end - cache->segment_sectors;
	if (end - start > cache->longest)
		make_longer(cache, end - start);
	if (cache->next >= cache->segments)
		cache->next = 0;
	put(cache, &cache->span[cache->next], (struct disk_span){ start, end });
	return cache->span[cache->next++];
}

void disk_cache_drop(struct disk_cache *cache, u64 sector, u32 sectors)
{
	struct disk_span *span = cache->span;
	u64 i;

	for (i = 0; i < cache->segments; i++) {
		if (span_touches(span[i].start, span[i].end, sector, sectors))
			put(cache, &span[i], (struct disk_span){ 0, 0 });
	}
}

void disk_cache_clear(struct disk_cache *cache)
{
	memset(cache->begun, 0, sizeof(cache->begun));
	memset(cache->span, 0, sizeof(cache->span));
	cache->next = 0;
}
