/* SPDX-License-Identifier: MIT */
/*
 * Play a tape (core/tape.h): make its calls into a scheduler again and write down
 * what it answers now.  The tape of a kernel comes out as it went in, or the
 * scheduler decided otherwise here than there.
 *
 * What the host said of positioning times is on the tape ahead of the call of next in which it
 * was asked, and is said again.
 *
 * A tape that is made up has no answers yet.  In it, a completion with id 0 is that of
 * the request which next handed out last, if it did.  The scheduler may have
 * handed out a request that the tape takes back or completes as another: such a call
 * is passed over.
 */
#ifndef UNDERSTUDY_REPLAY_H
#define UNDERSTUDY_REPLAY_H

#include "../core/contract.h"
#include "../core/tape.h"
#include "watch.h"

/**
 * struct replay - input and output; every array is the caller's
 * @scheduler: who answers
 * @tunables: one value for each, in the scheduler's order; set once it is initialised
 * @counters: room for one value each
 * @capacity_sectors: size of the disk
 * @max_requests: most that may be pending at once
 * @depth: most that were in service at once, as the scheduler was told; 0 stands for one
 * @places: places of the calls are below it
 * @nr_calls: length of the tape
 * @calls: the tape; what next answers is written over
 * @broken: CONTRACT_TEXT bytes for the rule that the scheduler broke, in words
 * @watch: how far it is
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
 * 0, -ENOMEM, -ENOSPC if more than max_requests are pending, -EINVAL if a call is
 * none, or adds to a place that is not free, or -EPROTO if the scheduler broke a rule.
 */
int replay_run(const struct replay *replay);

#endif
