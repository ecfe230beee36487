/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A scheduler's own model of the disk's cache (PERFORM 2010 section 3), and the set of pending
 * reads that the model may hold. Every dispatched read is inserted into the model; every write
 * drops the spans that it overlaps.
 *
 * Only an insertion adds sectors to the cache. So a read that misses on arrival need not be checked
 * again until a span that contains the read is inserted. From then on the read is a suspect, which
 * is checked at the next search, since the span may have been replaced by then.
 *
 * The field @tag of a pending read is reserved for this file.
 */
#ifndef UNDERSTUDY_SHADOW_CACHE_H
#define UNDERSTUDY_SHADOW_CACHE_H

#include "drive/disk_cache.h"
#include "fifo.h"
#include "sorted_queue.h"

/**
 * struct shadow_cache - a model of the disk's cache
 * @cache: the cache; its parameters may change at any time
 * @segments: number of segments at the last check
 * @suspects: number of pending reads that the cache may hold; the cache holds no other pending read
 */
struct shadow_cache {
	struct disk_cache cache;
	u64 segments;
	u32 suspects;
};

/* Check whether the cache holds a read that has arrived. */
void shadow_cache_add(struct shadow_cache *shadow, struct io_request *rq);

/* Forget a read that has been dispatched or removed. */
void shadow_cache_remove(struct shadow_cache *shadow, const struct io_request *rq);

/* Return the oldest pending read that the cache holds, or NULL. */
struct io_request *shadow_cache_find(struct shadow_cache *shadow,
				     const struct fifo *pending);

/* Insert a dispatched read into the cache; pending: the reads that are still pending. */
void shadow_cache_read(struct shadow_cache *shadow, const struct io_request *rq,
		       const struct sorted_queue *pending);

/* Drop the spans that a dispatched write overlaps. */
void shadow_cache_write(struct shadow_cache *shadow, const struct io_request *rq);

#endif
