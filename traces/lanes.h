/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace, a lane for each processor, merged into one order of time.
 *
 * A lane takes events in order of time and in that order alone.  When all are there they
 * are given out over all lanes: by time, then by kind (what comes first in a request's
 * life goes first), then by processor.  An event takes 32 bytes until it is given out.
 */
#ifndef UNDERSTUDY_TRACES_LANES_H
#define UNDERSTUDY_TRACES_LANES_H

#include "../core/port.h"

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
 * struct trace_event - something that happened to a request that moves data
 * @sectors: its length; of a split, where the rest begins, counted from @sector
 * @pid: who did it
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
 * struct lane - what a processor recorded
 * @cpu: its number
 * @began: it has recorded something, with @sequence and at @time_ns at last
 */
struct lane {
	u32 cpu, sequence;
	u64 time_ns;
	bool began;
	struct trace_block *first, *last;
	u32 given, taken; /* in the first block, in the last one */
};

/**
 * struct lanes - all of them
 * @lane: by processor, NULL if it has none
 * @heap: those that have events left, the one whose turn it is first; once it is built
 */
struct lanes {
	struct lane **lane, **heap;
	u32 nr_heap;
	bool ordered;
};

/* 0 or -ENOMEM. */
int lanes_init(struct lanes *lanes);

/* Also fit for lanes whose init failed, or that are zeroed. */
void lanes_exit(struct lanes *lanes);

/* The lane of a processor below LANES_MAX, or NULL: no memory. */
struct lane *lanes_get(struct lanes *lanes, u32 cpu);

/* None of the lane's events is later than it.  0 or -ENOMEM. */
int lane_put(struct lane *lane, const struct trace_event *event);

/* The next event of all; false if there is none.  No lane takes another one then. */
bool lanes_next(struct lanes *lanes, struct trace_event *event);

#endif
