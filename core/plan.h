/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The optimal order of the pending requests, cached while it is valid. plan_next() computes the
 * order if none is left or it was forgotten. The caller must forget it when a request arrives, or
 * leaves other than through plan_next().
 */
#ifndef UNDERSTUDY_PLAN_H
#define UNDERSTUDY_PLAN_H

#include "optimal_order.h"
#include "scheduler.h"
#include "sorted_queue.h"

/**
 * struct plan - the rest of the last order
 * @built: number of orders computed
 * @room: memory for computing an order
 * @farthest: a request beyond this place counts as at it, so that the costs fit into 64 bits
 *	however much the disk grows
 * @rq: requests in that order
 * @at: the next request
 * @count: end of the order; no request is left if it is @at
 */
struct plan {
	u64 built;
	struct optimal_order room;
	u64 farthest;
	struct io_request **rq;
	u32 at;
	u32 count;
};

/* For a scheduler whose state has a member "plan". */
#define PLAN_COUNTER(type)                                         \
	{                                                          \
		.name = "tables_built", .help = "orders computed", \
		.offset = offsetof(struct type, plan.built)        \
	}

/*
 * 0, -ENOMEM, or -EINVAL if there are too many requests on too large a disk for
 * core/optimal_order.h.
 */
int plan_init(struct plan *plan, const struct sched_limits *limits);

/* Valid also if init failed or the plan is zeroed. */
void plan_exit(struct plan *plan);

void plan_forget(struct plan *plan);

/*
 * The next request of the order. pending: the pending requests, at least one. head: where the head
 * is. The caller removes the request from the queue.
 */
struct io_request *plan_next(struct plan *plan, const struct sorted_queue *pending,
			     u64 head);

#endif
