/* SPDX-License-Identifier: MIT */
/*
 * A block layer's events, in order of time, made into requests: each that was issued and
 * has completed in full is a row.
 *
 * It arrived when its first sector was queued, by whom it was queued; if that was not seen,
 * when it was issued, by whom it was issued.  What is merged behind another request is
 * forgotten; what is merged in front of one takes its place, and the other is forgotten.
 * What is split off arrived with what it is split off.  A request that is requeued is the
 * same one when it is issued again.  A part that completes leaves the rest outstanding at
 * the sector behind it.
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
 * @queued: by where they begin, the first one that was queued there
 * @sent: issued
 * @back: requeued, and not issued again
 * @unissued: completions of what was not seen to be issued
 */
struct match {
	struct outstanding queued, sent, back;
	u64 unissued;
};

/* 0 or -ENOMEM. */
int match_init(struct match *match);

/* Also fit for one whose init failed, or that is zeroed. */
void match_exit(struct match *match);

/* 1 if it completes a request, which is in the row then; 0 if not; or -ENOMEM. */
int match_event(struct match *match, const struct trace_event *event,
		struct blktrace_row *row);

/* How many requests were issued and have not completed. */
u64 match_uncompleted(const struct match *match);

#endif
