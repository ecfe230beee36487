/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace, with a lane for each processor, merged into one order of time.
 *
 * A lane takes its events in order of time. Once all events are there, they are returned over all
 * lanes by time, then by kind (in the order of a request's life), then by processor. An event takes
 * 32 bytes until it is returned.
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
 * @sectors: its length; for a split, where the rest begins, counted from @sector
 * @pid: the process that caused it
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
 * @cpu: its number
 * @began: there is a record; the last one has @sequence and @time_ns
 */
struct lane {
	u32 cpu, sequence;
	u64 time_ns;
	bool began;
	struct trace_block *first, *last;
	u32 given, taken; /* returned from the first block; used in the last block */
};

/**
 * struct lanes - all lanes
 * @lane: by processor, NULL if it has none
 * @heap: the lanes with events left, the next one first; once it is built
 */
struct lanes {
	struct lane **lane, **heap;
	u32 nr_heap;
	bool ordered;
};

/* 0 or -ENOMEM. */
int lanes_init(struct lanes *lanes);

/* Valid also if init failed or the lanes are zeroed. */
void lanes_exit(struct lanes *lanes);

/* The lane of a processor below LANES_MAX; NULL if there is no memory. */
struct lane *lanes_get(struct lanes *lanes, u32 cpu);

/* Add an event, not earlier than the lane's other events. 0 or -ENOMEM. */
int lane_put(struct lane *lane, const struct trace_event *event);

/* The next event of all lanes; false if there is none. From then on lanes take no more events. */
bool lanes_next(struct lanes *lanes, struct trace_event *event);

#endif
