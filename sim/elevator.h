/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, and the merging that the block layer does for it in a kernel: adjacent pending
 * requests become one request. The scheduler is called for this: requests are removed and the
 * merged one is added.
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
 * @bundles: may requests be joined to another one that is to be served?
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
 * Valid also if init failed or the elevator is zeroed. Stores the counters' values and the message
 * about a broken rule in the summary.
 */
void elevator_exit(struct elevator *elevator, struct sim_summary *summary);

/* Add a request of one bio, either as a request or merged into another request. */
void elevator_add(struct elevator *elevator, struct pending *pending, u64 now_ns);

/* The request to serve now, or NULL if there is none or a rule was broken; see struct scheduler. */
struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns);

/*
 * Join up to `most` further requests of the same owner to one that is to be served now, as long as
 * the scheduler would choose them next.
 */
void elevator_join(struct elevator *elevator, struct pending *first, u32 most,
		   u64 now_ns);

/* The request, and all requests joined to it, were served. */
void elevator_completed(struct elevator *elevator, struct pending *pending, u64 now_ns);

#endif
