/* SPDX-License-Identifier: MIT */
/*
 * Replays a tape (core/tape.h): makes its calls into a scheduler again and writes down the new
 * answers. If a tape of the kernel changes by this, the scheduler decided differently here and
 * there.
 *
 * The tape has the host's positioning times before the call of next that used them; the replay
 * provides the same times.
 *
 * An invented tape has no answers yet. In it, a completion with id 0 is that of the last request
 * that next handed out, if any. The scheduler may already have handed out a request that the tape
 * takes back, or may not have handed out one that the tape completes. Such a call is skipped.
 */
#ifndef UNDERSTUDY_REPLAY_H
#define UNDERSTUDY_REPLAY_H

#include "../core/contract.h"
#include "../core/tape.h"
#include "watch.h"

/**
 * struct replay - input and output; every array is the caller's
 * @scheduler: the scheduler
 * @tunables: values of its tunables, in its order; set once it is initialised
 * @counters: room for the values of its counters
 * @capacity_sectors: size of the disk
 * @max_requests: most requests that may be pending at once
 * @depth: most requests in service at once, as given to the scheduler; 0 stands for one
 * @places: all places of the calls are below this
 * @nr_calls: length of the tape
 * @calls: the tape; the answers of next are overwritten
 * @broken: CONTRACT_TEXT bytes for a message about the rule that the scheduler broke
 * @watch: progress
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
 * 0, -ENOMEM, -ENOSPC if more than max_requests are pending, -EINVAL if a call is invalid or adds
 * to a place that is not free, or -EPROTO if the scheduler broke a rule.
 */
int replay_run(const struct replay *replay);

#endif
