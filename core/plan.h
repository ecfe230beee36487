/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The optimal order of what is pending, kept while it holds.  It is found when it is
 * asked for and nothing is left of the last one, or that was forgotten: the caller
 * forgets it when a request arrives or leaves by another way.
 */
#ifndef UNDERSTUDY_PLAN_H
#define UNDERSTUDY_PLAN_H

#include "optimal_order.h"
#include "scheduler.h"
#include "sorted_queue.h"

/**
 * struct plan - what is left of the last order
 * @built: counter of orders found
 * @room: where they are found
 * @farthest: a request beyond it counts as one there: what they weigh must fit into 64
 *	bits however much the disk grows
 * @rq: requests in that order
 * @at: the next one
 * @count: end of the plan; nothing is left if it is @at
 */
struct plan {
	u64 built;
	struct optimal_order room;
	u64 farthest;
	struct io_request **rq;
	u32 at;
	u32 count;
};

/* For a scheduler that has a member "plan". */
#define PLAN_COUNTER(type)                                         \
	{                                                          \
		.name = "tables_built", .help = "orders computed", \
		.offset = offsetof(struct type, plan.built)        \
	}

/*
 * 0, -ENOMEM, or -EINVAL for more requests on a larger disk than core/optimal_order.h
 * can weigh.
 */
int plan_init(struct plan *plan, const struct sched_limits *limits);

/* Also fit for a plan whose init failed, or that is zeroed. */
void plan_exit(struct plan *plan);

void plan_forget(struct plan *plan);

/*
 * The next request; what is pending is the queue, one at least, and the head is there.
 * The caller takes it from the queue.
 */
struct io_request *plan_next(struct plan *plan, const struct sorted_queue *pending,
			     u64 head);

#endif
