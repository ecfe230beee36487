/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, and what the block layer does for it: requests that touch while it has
 * them become one.  It sees that as removals and an addition.
 */
#ifndef UNDERSTUDY_ELEVATOR_H
#define UNDERSTUDY_ELEVATOR_H

#include "../core/contract.h"
#include "engine.h"
#include "extents.h"
#include "pending.h"

/**
 * struct elevator - a scheduler at work
 * @contract: its calls, and how many requests it has
 * @state: its own
 * @pool: where the requests are
 * @merge_sectors: longest request that merging makes; 0: nothing is merged
 * @extents: of what it has, if requests may merge
 * @bundles: requests may be joined to one that is served
 */
struct elevator {
	struct contract contract;
	void *state;
	struct pending *pool;
	u32 merge_sectors;
	struct extents extents;
	bool bundles;
};

/* 0, -ENOMEM, or the error of the scheduler's init, which may ask the device if it is a disk. */
int elevator_init(struct elevator *elevator, const struct sim_input *input,
		  struct pending *pool, struct timed_device *device);

/*
 * Also fit for one whose init failed, or that is zeroed; leaves the counters' values
 * and the words about a broken rule.
 */
void elevator_exit(struct elevator *elevator, struct sim_summary *summary);

/* A request of one bio, of its own or merged into another one. */
void elevator_add(struct elevator *elevator, struct pending *pending, u64 now_ns);

/* The one to serve now, or NULL, also if a rule was broken; see struct scheduler. */
struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns);

/*
 * Up to so many more of its owner's go with one that is to be served now, as long as the
 * scheduler would give them next; they are joined to it.
 */
void elevator_join(struct elevator *elevator, struct pending *first, u32 most,
		   u64 now_ns);

/* It was served, and what is joined to it. */
void elevator_completed(struct elevator *elevator, struct pending *pending, u64 now_ns);

#endif
