/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The disk's cache as a scheduler imagines it (PERFORM 2010 section 3), and which of
 * the pending reads it holds: every read that is dispatched is written into it, every
 * write drops what it overlaps.
 *
 * Only being written makes a cache hold more than before.  So a read that it does not
 * hold when it arrives is looked at again only when a span around it is written; that
 * makes it a suspect, since the span may be gone again when somebody asks.
 *
 * The tag of a pending read belongs to this file.
 */
#ifndef UNDERSTUDY_SHADOW_CACHE_H
#define UNDERSTUDY_SHADOW_CACHE_H

#include "drive/disk_cache.h"
#include "fifo.h"
#include "sorted_queue.h"

/**
 * struct shadow_cache - a cache that serves nobody
 * @cache: its parameters may change at any time
 * @segments: that of the cache when it was last asked
 * @suspects: pending reads that may be held; the others are not
 */
struct shadow_cache {
	struct disk_cache cache;
	u64 segments;
	u32 suspects;
};

/* A read is pending. */
void shadow_cache_add(struct shadow_cache *shadow, struct io_request *rq);

/* It no longer is. */
void shadow_cache_remove(struct shadow_cache *shadow, const struct io_request *rq);

/* The oldest pending read that is held, or NULL. */
struct io_request *shadow_cache_find(struct shadow_cache *shadow,
				     const struct fifo *pending);

/* A read is dispatched, and pending no longer; these are. */
void shadow_cache_read(struct shadow_cache *shadow, const struct io_request *rq,
		       const struct sorted_queue *pending);

/* A write is dispatched. */
void shadow_cache_write(struct shadow_cache *shadow, const struct io_request *rq);

#endif
