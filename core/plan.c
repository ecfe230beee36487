// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "plan.h"

int plan_init(struct plan *plan, const struct sched_limits *limits)
{
	u32 max = limits->max_requests;

	plan->farthest = U64_MAX / (2ull * max);
	plan->rq = port_zalloc(max * sizeof(*plan->rq));
	return plan->rq ? optimal_order_init(&plan->room, max, limits->capacity_sectors)
			: -ENOMEM;
}

void plan_exit(struct plan *plan)
{
	optimal_order_exit(&plan->room);
	port_free(plan->rq);
	plan->rq = NULL;
}

void plan_forget(struct plan *plan)
{
	plan->at = 0;
	plan->count = 0;
}

static u64 place(const struct plan *plan, u64 sector)
{
	return sector < plan->farthest ? sector : plan->farthest;
}

static void build(struct plan *plan, const struct sorted_queue *pending, u64 head)
{
	u32 i;

	for (i = 0; i < pending->count; i++)
		plan->room.position[i] = place(plan, pending->slot[i]->sector);
	optimal_order_find(&plan->room, pending->count, place(plan, head));
	for (i = 0; i < pending->count; i++)
		plan->rq[i] = pending->slot[plan->room.order[i]];
	plan->at = 0;
	plan->count = pending->count;
	plan->built++;
}

struct io_request *plan_next(struct plan *plan, const struct sorted_queue *pending,
			     u64 head)
{
	if (plan->at == plan->count)
		build(plan, pending, head);
	return plan->rq[plan->at++];
}
