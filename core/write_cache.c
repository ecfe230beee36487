// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "write_cache.h"

static bool is_under_way(const struct write_cache *cache)
{
	return cache->under_way.start != cache->under_way.end;
}

bool write_cache_has_room(const struct write_cache *cache, u64 sectors)
{
	return cache->nr + is_under_way(cache) < cache->spans_max &&
	       cache->sectors + sectors <= cache->sectors_max;
}

bool write_cache_join(struct write_cache *cache, u64 sector, u64 sectors, u64 ready_ns)
{
	u32 i;

	if (cache->sectors + sectors > cache->sectors_max)
		return false;
	for (i = 0; i < cache->nr; i++) {
		if (cache->span[i].end == sector) {
			cache->span[i].end += sectors;
			cache->span[i].ready_ns = ready_ns;
			cache->sectors += sectors;
			return true;
		}
	}
	return false;
}

void write_cache_add(struct write_cache *cache, struct write_span span)
{
	cache->span[cache->nr++] = span;
	cache->sectors += span.end - span.start;
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static u32 next_index(const struct write_cache *cache, u64 head)
{
	const struct write_span *span = cache->span;
	u32 nearest = 0;
	u32 i;

	if (cache->order == WRITE_IN_ORDER)
		return 0;
	for (i = 1; i < cache->nr; i++) {
		if (distance(span[i].start, head) < distance(span[nearest].start, head))
			nearest = i;
	}
	return nearest;
}

struct write_span write_cache_next(struct write_cache *cache, u64 head)
{
	u32 i = next_index(cache, head);
	struct write_span span = cache->span[i];

	cache->nr--;
	memmove(cache->span + i, cache->span + i + 1,
		(cache->nr - i) * sizeof(*cache->span));
	return span;
}

const struct write_span *write_cache_holds(const struct write_cache *cache, u64 sector,
					   u64 sectors)
{
	u32 i;

	for (i = 0; i < cache->nr; i++) {
		if (cache->span[i].start <= sector &&
		    sector + sectors <= cache->span[i].end)
			return &cache->span[i];
	}
	return NULL;
}

bool write_cache_touches(const struct write_cache *cache, u64 sector, u64 sectors)
{
	u32 i;

	for (i = 0; i < cache->nr; i++) {
		if (cache->span[i].start < sector + sectors &&
		    sector < cache->span[i].end)
			return true;
	}
	return false;
}

void write_cache_clear(struct write_cache *cache)
{
	cache->nr = 0;
	cache->sectors = 0;
	cache->under_way = (struct write_span){ 0 };
	cache->medium_ns = 0;
	cache->busy_until_ns = 0;
}
