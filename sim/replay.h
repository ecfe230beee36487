/* SPDX-License-Identifier: MIT */
/*
 * Replays a tape (core/tape.h): repeats its calls into a scheduler and records the new results. If
 * the new results differ from those on a tape that the kernel recorded, the scheduler decides
 * differently here than in the kernel.
 *
 * Each positioning time that the host returned to the scheduler is on the tape, before the call of
 * next that used the time. The replay returns the same positioning times.
 *
 * A generated tape has no results yet. In a generated tape, a completion with id 0 is the
 * completion of the last request that next handed out, if any. A call is skipped if it takes back a
 * request that the scheduler has already handed out, or completes a request that the scheduler has
 * not handed out.
 */
#ifndef UNDERSTUDY_REPLAY_H
#define UNDERSTUDY_REPLAY_H

#include "../core/contract.h"
#include "../core/tape.h"
#include "watch.h"

/**
 * struct replay - input and output; every array is in the caller's memory
 * @scheduler: the scheduler
 * @tunables: values of the scheduler's tunables, in the order of their declaration; stored in its
 *	state after init
 * @counters: room for the values of the scheduler's counters
 * @capacity_sectors: size of the disk
 * @max_requests: most requests that may be pending at once
 * @depth: most requests in service at once, as given to the scheduler; 0 stands for one
 * @places: number of places for requests; @place of each call must be below this
 * @nr_calls: number of calls on the tape
 * @calls: the calls of the tape; the results of next are overwritten
 * @broken: CONTRACT_TEXT bytes for a message about the rule that the scheduler broke
 * @watch: progress of the replay, for other threads
 */
struct replay {
	const struct scheduler *scheduler;
	const u64 *tunables;
	u64 *counters;
	u64 capacity_sectors;
	u32 max_requests;
	u32 depth;
	u32 places;
	u64 nr_calls;
	struct tape_call *calls;
	char *broken;
	struct sim_watch *watch;
};

/*
 * Returns 0, -ENOMEM, -ENOSPC if more than max_requests are pending, -EINVAL if a call is invalid
 * or adds to a place that is not free, or -EPROTO if the scheduler broke a rule.
 */
int replay_run(const struct replay *replay);

#endif
