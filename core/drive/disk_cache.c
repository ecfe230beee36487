// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "disk_cache.h"
#include "../span.h"

/*
 * The first test nearly always says no, and can be foreseen: before the span the
 * difference wraps around and is huge.
 */
bool disk_cache_holds(const struct disk_cache *cache, u64 sector, u32 sectors)
{
	const struct disk_span *end = cache->span + cache->segments;
	const struct disk_span *span;

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
		cache->longest = end - start;
	if (cache->next >= cache->segments)
		cache->next = 0;
	cache->span[cache->next] = (struct disk_span){ start, end };
	return cache->span[cache->next++];
}

void disk_cache_drop(struct disk_cache *cache, u64 sector, u32 sectors)
{
	struct disk_span *span = cache->span;
	u64 i;

	for (i = 0; i < cache->segments; i++) {
		if (span_touches(span[i].start, span[i].end, sector, sectors))
			span[i] = (struct disk_span){ 0, 0 };
	}
}

void disk_cache_clear(struct disk_cache *cache)
{
	memset(cache->span, 0, sizeof(cache->span));
	cache->next = 0;
}
