/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace, with a lane for each processor, merged into one order of time.
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
 * @sectors: number of its sectors; for a split, where the second part begins, counted from @sector
 * @pid: id of the process that caused it
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
 * @began: has there been a record? The last one had @sequence and @time_ns
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
 * @lane: the lane of each processor; NULL if it has none
 * @heap: the lanes that still have events, the one with the next event first; built by the first
 *	lanes_next()
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

/* Add an event, which is not earlier than the lane's other events. Returns 0 or -ENOMEM. */
int lane_put(struct lane *lane, const struct trace_event *event);

/*
 * The next event of all lanes; false if there is none. After the first call no events may be added.
 */
bool lanes_next(struct lanes *lanes, struct trace_event *event);

#endif
