/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, and what the block layer does for it: requests that touch while it has
 * them become one.  It sees that as removals and an addition.
 */
#ifndef UNDERSTUDY_ELEVATOR_H
#define UNDERSTUDY_ELEVATOR_H

#include "engine.h"
#include "extents.h"
#include "pending.h"

/**
 * struct elevator - a scheduler at work
 * @scheduler: which one
 * @state: its own
 * @pool: where the requests are
 * @merge_sectors: longest request that merging makes; 0: nothing is merged
 * @extents: of what it has, if requests may merge
 * @nr_pending: how many requests it has
 */
struct elevator {
	const struct scheduler *scheduler;
	void *state;
	struct pending *pool;
	u32 merge_sectors;
	struct extents extents;
	u32 nr_pending;
};

/* 0, -ENOMEM, or the error of the scheduler's init. */
int elevator_init(struct elevator *elevator, const struct sim_input *input,
		  struct pending *pool);

/* Also fit for one whose init failed, or that is zeroed; leaves the counters' values.
 */
void elevator_exit(struct elevator *elevator, u64 *counters);

/* A request of one bio, of its own or merged into another one. */
void elevator_add(struct elevator *elevator, struct pending *pending, u64 now_ns);

/* The one to serve now, or NULL; see struct scheduler. */
struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns);

/* It was served. */
void elevator_completed(struct elevator *elevator, const struct pending *pending,
			u64 now_ns);

#endif
