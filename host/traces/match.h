/* SPDX-License-Identifier: MIT */
/*
 * Reconstructs requests from a block layer's events, which must be in order of time. Each request
 * that was issued and has completed in full becomes a row.
 *
 * The arrival and owner of a request are those of the queue event of the request's first sector. If
 * that event is not in the trace, they are those of the issue event. When two requests are merged,
 * the request with the lower first sector is kept, and the other request is forgotten. A part that
 * is split off keeps the arrival of the original request. A request that is requeued and issued
 * again counts as one request. When a part of a request completes, the remaining sectors stay
 * outstanding as a request that begins after that part.
 *
 * A trace may lack events. Only events of one direction (read, write) belong together. When a
 * request is queued where another one of its direction waits, the earlier one's issue is lost. When
 * a request is issued where another one is outstanding, the earlier one's completion is lost. A
 * completion of more sectors than were issued belongs to no request. All of these are counted.
 */
#ifndef UNDERSTUDY_TRACES_MATCH_H
#define UNDERSTUDY_TRACES_MATCH_H

#include "lanes.h"
#include "outstanding.h"

/**
 * struct blktrace_row - a request
 * @dispatch_ns: time of the first issue; not before the arrival
 * @completion_ns: time of the last sector's completion; not before the dispatch
 * @op: 0 read, 1 write
 * @event: place of the completion among the events that were passed to match_events()
 */
struct blktrace_row {
	u64 arrival_ns, dispatch_ns, completion_ns, sector;
	u32 sectors, owner, op, event;
};

/**
 * struct match - requests that are not complete
 * @queued: queued requests, by first sector; of several requests at one sector, only the last
 * @sent: requests issued
 * @back: requests that were requeued and not issued again
 * @unissued: number of completions without an issue event
 * @unissued_queues: number of queued requests that a later one has replaced
 * @reissued: number of issued requests that a later one has replaced
 */
struct match {
	struct outstanding queued, sent, back;
	u64 unissued, unissued_queues, reissued;
};

/* 0 or -ENOMEM. */
int match_init(struct match *match);

/* May also be called if match_init failed or the structure is zeroed. */
void match_exit(struct match *match);

/* The same in memory of its own; NULL if there is none. */
struct match *match_new(void);
void match_free(struct match *match);

/*
 * Return 1 if the event completes a request, and store the request in the row. Otherwise return 0,
 * or -ENOMEM.
 */
int match_event(struct match *match, const struct trace_event *event,
		struct blktrace_row *row);

/*
 * Process n events, fewer than 2^32. Store a row for each request that is completed, and return
 * their number; there must be room for n rows. Return -ENOMEM if there is no memory.
 */
s64 match_events(struct match *match, const struct trace_event *event, u64 n,
		 struct blktrace_row *row);

/* Return the number of requests that were queued and neither issued nor merged. */
u64 match_unissued_queues(const struct match *match);

/* Return the number of requests that were issued and have not completed. */
u64 match_uncompleted(const struct match *match);

#endif
