/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The optimal order of the pending requests, cached while it is valid. plan_next() computes a new
 * order if it has returned all requests of the last order, or after plan_forget(). The caller must
 * call plan_forget() when a request arrives, or when a request that plan_next() did not return is
 * removed.
 */
#ifndef UNDERSTUDY_PLAN_H
#define UNDERSTUDY_PLAN_H

#include "optimal_order.h"
#include "scheduler.h"
#include "sorted_queue.h"

/**
 * struct plan - the requests of the last order that are still to be served
 * @built: number of orders computed
 * @room: memory for computing an order
 * @farthest: a request beyond this sector is treated as if it were at this sector, so that the
 *	costs fit into 64 bits however much the disk grows
 * @rq: the requests, in the computed order
 * @at: index in @rq of the next request
 * @count: number of requests in @rq; if @at equals @count, all of them have been returned
 */
struct plan {
	u64 built;
	struct optimal_order room;
	u64 farthest;
	struct io_request **rq;
	u32 at;
	u32 count;
};

/* Counter of a scheduler whose state has a member named plan. */
#define PLAN_COUNTER(type)                                         \
	{                                                          \
		.name = "tables_built", .help = "orders computed", \
		.offset = offsetof(struct type, plan.built)        \
	}

/*
 * Returns 0, -ENOMEM, or -EINVAL if there are too many requests on too large a disk for
 * core/optimal_order.h.
 */
int plan_init(struct plan *plan, const struct sched_limits *limits);

/* May be called even if plan_init() failed or the plan is zeroed. */
void plan_exit(struct plan *plan);

void plan_forget(struct plan *plan);

/*
 * Return the next request of the order, which the caller must then remove from @pending. There must
 * be a pending request; `head` is the sector under the head.
 */
struct io_request *plan_next(struct plan *plan, const struct sorted_queue *pending,
			     u64 head);

#endif
