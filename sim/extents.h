/* SPDX-License-Identifier: MIT */
/*
 * Which pending requests a new one touches: those that end where it begins and those
 * that begin where it ends, in O(1) expected time.  Of several the latest one.
 */
#ifndef UNDERSTUDY_EXTENTS_H
#define UNDERSTUDY_EXTENTS_H

#include "../core/request.h"

#define NO_EXTENT U32_MAX

struct extent;

/**
 * struct extents - the pending requests by their ends
 * @extent: by number
 * @starting: heads of the hash chains of those that start at a sector
 * @ending: the same for those that end there
 * @buckets: how many chains of each kind, a power of two
 */
struct extents {
	struct extent *extent;
	u32 *starting;
	u32 *ending;
	u32 buckets;
};

/* Numbers are below capacity.  0 or -ENOMEM. */
int extents_init(struct extents *extents, u32 capacity);

/* Also fit for extents whose init failed, or that are zeroed. */
void extents_exit(struct extents *extents);

/* The request has this number from now on. */
void extents_add(struct extents *extents, u32 number, const struct io_request *rq);

/* It is not pending any more, or about to change. */
void extents_remove(struct extents *extents, u32 number);

/* The number of one in that direction, or NO_EXTENT. */
u32 extents_starting_at(const struct extents *extents, u8 op, u64 sector);
u32 extents_ending_at(const struct extents *extents, u8 op, u64 sector);

#endif
