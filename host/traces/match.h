/* SPDX-License-Identifier: MIT */
/*
 * Reconstructs requests from a block layer's events, which are in order of time. Each request that
 * was issued and has completed in full is a row.
 *
 * The arrival of a request, and its owner, are those of the queue event of its first sector or, if
 * that event is not in the trace, those of the issue event. If one request is merged with another,
 * the one with the lower first sector is kept, and the other is forgotten. A part that is split off
 * keeps the arrival of the original request. A request that is requeued and issued again remains
 * the same. When a part of a request completes, the remaining sectors stay outstanding, as a
 * request that begins after that part.
 */
#ifndef UNDERSTUDY_TRACES_MATCH_H
#define UNDERSTUDY_TRACES_MATCH_H

#include "lanes.h"
#include "outstanding.h"

/**
 * struct blktrace_row - a request
 * @dispatch_ns: when it was first issued; not before its arrival
 * @completion_ns: when its last sector completed; not before its dispatch
 * @op: 0 read, 1 write
 */
struct blktrace_row {
	u64 arrival_ns, dispatch_ns, completion_ns, sector;
	u32 sectors, owner, op, unused;
};

/**
 * struct match - requests that are not complete
 * @queued: requests queued, by first sector; of several at one sector, the one queued first is
 *	found
 * @sent: requests issued
 * @back: requests requeued, and not issued again
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

/*
 * Returns 1 if the event completes a request, which is then stored in the row; 0 if not; or
 * -ENOMEM.
 */
int match_event(struct match *match, const struct trace_event *event,
		struct blktrace_row *row);

/* Number of requests that were issued and have not completed. */
u64 match_uncompleted(const struct match *match);

#endif
