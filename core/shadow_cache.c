// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "shadow_cache.h"

enum {
	NOT_HELD = 0,
	SUSPECT = 1,
};

static bool holds(const struct shadow_cache *shadow, const struct io_request *rq)
{
	return disk_cache_holds(&shadow->cache, rq->sector, rq->sectors);
}

static void suspect(struct shadow_cache *shadow, struct io_request *rq)
{
	shadow->suspects += rq->tag == NOT_HELD;
	rq->tag = SUSPECT;
}

/* If the number of segments has changed since the last check, every new read is a suspect. */
void shadow_cache_add(struct shadow_cache *shadow, struct io_request *rq)
{
	rq->tag = NOT_HELD;
	if (shadow->segments != shadow->cache.segments || holds(shadow, rq))
		suspect(shadow, rq);
}

void shadow_cache_remove(struct shadow_cache *shadow, const struct io_request *rq)
{
	shadow->suspects -= rq->tag == SUSPECT;
}

/*
 * After a change of the number of segments, make every pending read a suspect: the cache may then
 * hold old spans again.
 */
static void see_segments(struct shadow_cache *shadow, const struct fifo *pending)
{
	struct io_request *rq;

	if (shadow->segments == shadow->cache.segments)
		return;
	shadow->segments = shadow->cache.segments;
	for (rq = pending->oldest; rq; rq = rq->fifo_next)
		suspect(shadow, rq);
}

struct io_request *shadow_cache_find(struct shadow_cache *shadow,
				     const struct fifo *pending)
{
	struct io_request *rq = pending->oldest;

	see_segments(shadow, pending);
	for (; shadow->suspects && rq; rq = rq->fifo_next) {
		if (rq->tag == NOT_HELD)
			continue;
		if (holds(shadow, rq))
			return rq;
		rq->tag = NOT_HELD;
		shadow->suspects--;
	}
	return NULL;
}

void shadow_cache_read(struct shadow_cache *shadow, const struct io_request *rq,
		       const struct sorted_queue *pending)
{
	struct disk_span span =
		disk_cache_insert(&shadow->cache, rq->sector, rq->sectors);
	u32 i = sorted_queue_from(pending, span.start);

	for (; i < pending->count && pending->slot[i]->sector < span.end; i++) {
		if (request_end(pending->slot[i]) <= span.end)
			suspect(shadow, pending->slot[i]);
	}
}

void shadow_cache_write(struct shadow_cache *shadow, const struct io_request *rq)
{
	disk_cache_drop(&shadow->cache, rq->sector, rq->sectors);
}
