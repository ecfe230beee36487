/* SPDX-License-Identifier: MIT */
/*
 * An open replay: arrivals and the instants at which the disk asked for a request
 * are given, a scheduler says what it hands out.  With a kernel's records as the
 * input this compares its own scheduler with one of core/, pick by pick.
 *
 * Rows of arrivals are in order of time.  A row with the id of a pending request
 * changes it: it was merged with another, or, if the row has no sectors, it went
 * into another and is pending no longer.  An id that is not pending is new.
 *
 * At one instant, completions come first, then arrivals, then the pick.
 */
#ifndef UNDERSTUDY_REPLAY_H
#define UNDERSTUDY_REPLAY_H

#include "../core/scheduler.h"

#define REPLAY_NONE (-1)

/**
 * struct replay - input and output; every array is the caller's
 * @scheduler: who picks
 * @tunables: one value for each, in the scheduler's order
 * @counters: room for one value each
 * @capacity_sectors: size of the disk
 * @max_requests: most that may be pending at once
 * @nr_arrivals: rows in the next six
 * @nr_picks: rows in the rest
 * @pick_ns: ascending
 * @completion_ns: when what was picked is complete, not before the pick nor after
 *	the next one; NULL if that is when the next pick is made
 * @picked_id: set to the id, or REPLAY_NONE
 * @reason: set to its reason
 * @wake_ns: set to when a scheduler that picked nothing wants to be asked again
 */
struct replay {
	const struct scheduler *scheduler;
	const u64 *tunables;
	u64 *counters;
	u64 capacity_sectors;
	u32 max_requests;

	u32 nr_arrivals;
	const u64 *arrival_ns;
	const u64 *id;
	const u64 *sector;
	const u32 *sectors;
	const u32 *owner;
	const u8 *op;

	u32 nr_picks;
	const u64 *pick_ns;
	const u64 *completion_ns;
	s64 *picked_id;
	u8 *reason;
	u64 *wake_ns;
};

/* 0, -ENOMEM, or -ENOSPC if more than max_requests are pending. */
int replay_run(const struct replay *replay);

#endif
