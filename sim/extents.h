/* SPDX-License-Identifier: MIT */
/*
 * Finds a pending request that ends where a new request begins, or begins where the new request
 * ends, in O(1) expected time. If there are several, the request that was added last is found.
 */
#ifndef UNDERSTUDY_EXTENTS_H
#define UNDERSTUDY_EXTENTS_H

#include "../core/request.h"

#define NO_EXTENT U32_MAX

struct extent;

/**
 * struct extents - the pending requests, hashed by start and by end
 * @extent: the extents, by number of the request
 * @starting: heads of the hash chains of requests that start at a sector
 * @ending: heads of the hash chains of requests that end at a sector
 * @buckets: number of chains of each kind, a power of two
 */
struct extents {
	struct extent *extent;
	u32 *starting;
	u32 *ending;
	u32 buckets;
};

/* The numbers of requests must be below capacity. Returns 0 or -ENOMEM. */
int extents_init(struct extents *extents, u32 capacity);

/* May be called even if init failed or the extents are zeroed. */
void extents_exit(struct extents *extents);

/* Add a request under this number. */
void extents_add(struct extents *extents, u32 number, const struct io_request *rq);

/* Remove a request that is no longer pending or is about to change. */
void extents_remove(struct extents *extents, u32 number);

/* Return the number of a request of kind `op` that starts at this sector, or NO_EXTENT. */
u32 extents_starting_at(const struct extents *extents, u8 op, u64 sector);
u32 extents_ending_at(const struct extents *extents, u8 op, u64 sector);

#endif
