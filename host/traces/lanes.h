/* SPDX-License-Identifier: MIT */
/*
 * Merges the events of a trace, which has a lane for each processor, into one order of time.
 *
 * Events are added to a lane in order of time. Once all events have been added, the events of all
 * lanes are returned in order of time, then of kind (in the order of a request's life), then of
 * processor. An event needs 32 bytes of memory until it is returned.
 */
#ifndef UNDERSTUDY_TRACES_LANES_H
#define UNDERSTUDY_TRACES_LANES_H

#include "../../core/port.h"

#define LANES_MAX 8192 /* Linux allows no more processors */

enum trace_event_kind {
	TRACE_QUEUE,
	TRACE_SPLIT,
	TRACE_BACK_MERGE,
	TRACE_FRONT_MERGE,
	TRACE_REQUEUE,
	TRACE_ISSUE,
	TRACE_COMPLETE,
};

/**
 * struct trace_event - an event of a request that moves data
 * @sectors: number of the request's sectors; for a split, the second part's first sector minus
 *	@sector
 * @pid: id of the process that caused the event
 * @kind: one of enum trace_event_kind
 * @op: 0 read, 1 write
 */
struct trace_event {
	u64 time_ns, sector;
	u32 sectors, pid;
	u8 kind, op;
};

struct trace_block;

/**
 * struct lane - the records of a processor
 * @cpu: number of the processor
 * @began: whether the lane has had a record. The last record had @sequence and @time_ns
 */
struct lane {
	u32 cpu, sequence;
	u64 time_ns;
	bool began;
	struct trace_block *first, *last;
	u32 given, taken; /* events returned from `first`, and stored in `last` */
};

/**
 * struct lanes - all lanes
 * @lane: the lane of each processor; NULL for a processor without events
 * @heap: the lanes that still have events, the lane with the next event first; built by the first
 *	lanes_next()
 */
struct lanes {
	struct lane **lane, **heap;
	u32 nr_heap;
	bool ordered;
};

/* 0 or -ENOMEM. */
int lanes_init(struct lanes *lanes);

/* May also be called if lanes_init failed or the structure is zeroed. */
void lanes_exit(struct lanes *lanes);

/* Return the lane of a processor below LANES_MAX, or NULL if there is no memory. */
struct lane *lanes_get(struct lanes *lanes, u32 cpu);

/* Add an event. It must not be earlier than the lane's other events. Returns 0 or -ENOMEM. */
int lane_put(struct lane *lane, const struct trace_event *event);

/*
 * Store the next event of all lanes; return false if there is none. After the first call, no event
 * may be added.
 */
bool lanes_next(struct lanes *lanes, struct trace_event *event);

#endif
