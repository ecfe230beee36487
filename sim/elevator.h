/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, and the merging of adjacent pending requests, which is the block layer's work in a
 * kernel. To merge requests, the elevator removes them from the scheduler and adds the merged
 * request.
 */
#ifndef UNDERSTUDY_ELEVATOR_H
#define UNDERSTUDY_ELEVATOR_H

#include "../core/contract.h"
#include "engine.h"
#include "extents.h"
#include "pending.h"

/**
 * struct elevator - a scheduler at work
 * @contract: enforces the rules and counts the scheduler's requests
 * @state: the scheduler's state
 * @pool: the requests
 * @merge_sectors: longest request that merging may make; 0: nothing is merged
 * @extents: extents of the scheduler's requests, if requests may merge
 * @bundles: may requests be bundled, so that the device serves several together?
 */
struct elevator {
	struct contract contract;
	void *state;
	struct pending *pool;
	u32 merge_sectors;
	struct extents extents;
	bool bundles;
};

/* Returns 0, -ENOMEM, or the error of the scheduler's init. */
int elevator_init(struct elevator *elevator, const struct sim_input *input,
		  struct pending *pool, struct timed_device *device);

/*
 * May be called even if init failed or the elevator is zeroed. Stores the counters' values and the
 * message about a broken rule in the summary.
 */
void elevator_exit(struct elevator *elevator, struct sim_summary *summary);

/* Add a request of one bio: as a new request, or merged into a pending one. */
void elevator_add(struct elevator *elevator, struct pending *pending, u64 now_ns);

/*
 * Return the request to serve now. Return NULL if there is none or if the scheduler broke a rule;
 * see struct scheduler.
 */
struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns);

/*
 * Join up to `most` requests to `first`, which is about to be served. Each joined request has the
 * same owner and is the one that the scheduler would choose next.
 */
void elevator_join(struct elevator *elevator, struct pending *first, u32 most,
		   u64 now_ns);

/* Record that the request, and all requests joined to it, were served. */
void elevator_completed(struct elevator *elevator, struct pending *pending, u64 now_ns);

#endif
