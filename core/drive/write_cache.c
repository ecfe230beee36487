// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "write_cache.h"
#include "../span.h"

bool write_cache_is_busy(const struct write_cache *cache)
{
	return cache->under_way.start != cache->under_way.end;
}

bool write_cache_has_room(const struct write_cache *cache, u64 sector, u64 sectors)
{
	bool busy = write_cache_is_busy(cache);
	bool follows = cache->order == WRITE_AS_THEY_COME && busy && !cache->nr &&
		       cache->under_way.end == sector;

	return cache->nr + busy < cache->spans_max + follows &&
	       cache->sectors + sectors <= cache->sectors_max;
}

bool write_cache_join(struct write_cache *cache, u64 sector, u64 sectors)
{
	u32 i;

	if (cache->order == WRITE_AS_THEY_COME ||
	    cache->sectors + sectors > cache->sectors_max)
		return false;
	for (i = 0; i < cache->nr; i++) {
		if (cache->span[i].end == sector) {
			cache->span[i].end += sectors;
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

u32 write_cache_next(const struct write_cache *cache, u64 head)
{
	const struct write_span *span = cache->span;
	u32 next = 0;
	u32 i;

	if (cache->order == WRITE_AS_THEY_COME)
		return 0;
	for (i = 1; i < cache->nr; i++) {
		/* upwards and, past the end, around */
		if (span[i].start - head < span[next].start - head)
			next = i;
	}
	return next;
}

struct write_span write_cache_take(struct write_cache *cache, u32 index)
{
	struct write_span *place = cache->span + index;
	struct write_span span = *place;

	cache->nr--;
	memmove(place, place + 1, (cache->nr - index) * sizeof(*place));
	return span;
}

const struct write_span *write_cache_holds(const struct write_cache *cache, u64 sector,
					   u64 sectors)
{
	const struct write_span *span;

	for (span = cache->span; span < cache->span + cache->nr; span++) {
		if (span_reaches(span->start, span->end, sector) &&
		    sector + sectors <= span->end)
			return span;
	}
	return NULL;
}

bool write_cache_touches(const struct write_cache *cache, u64 sector, u64 sectors)
{
	const struct write_span *span;

	for (span = cache->span; span < cache->span + cache->nr; span++) {
		if (span_touches(span->start, span->end, sector, sectors))
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
