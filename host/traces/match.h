/* SPDX-License-Identifier: MIT */
/*
 * Turns a block layer's events, in order of time, into requests. Each request that was issued and
 * has completed in full is a row.
 *
 * The arrival of a request, and its owner, are those of the queue event of its first sector; if
 * that was not seen, those of the issue event. A request that is merged behind another one is
 * forgotten. One that is merged in front of another takes its place, and the other one is
 * forgotten. A part that is split off keeps the arrival of the original request. A request that is
 * requeued and issued again remains the same. When a part of a request completes, the rest stays
 * outstanding at the sector behind the part.
 */
#ifndef UNDERSTUDY_TRACES_MATCH_H
#define UNDERSTUDY_TRACES_MATCH_H

#include "lanes.h"
#include "outstanding.h"

/**
 * struct blktrace_row - a request
 * @dispatch_ns: first issued; its arrival is not later
 * @completion_ns: its last sector completed; its dispatch is not later
 * @op: 0 read, 1 write
 */
struct blktrace_row {
	u64 arrival_ns, dispatch_ns, completion_ns, sector;
	u32 sectors, owner, op, unused;
};

/**
 * struct match - requests that are not complete
 * @queued: queued, by first sector; of several at one sector the one queued first
 * @sent: issued
 * @back: requeued, and not issued again
 * @unissued: number of completions without an issue event
 */
struct match {
	struct outstanding queued, sent, back;
	u64 unissued;
};

/* 0 or -ENOMEM. */
int match_init(struct match *match);

/* Valid also if init failed or the struct is zeroed. */
void match_exit(struct match *match);

/* 1 if the event completes a request, then in the row; 0 if not; or -ENOMEM. */
int match_event(struct match *match, const struct trace_event *event,
		struct blktrace_row *row);

/* Number of requests that were issued and have not completed. */
u64 match_uncompleted(const struct match *match);

#endif
