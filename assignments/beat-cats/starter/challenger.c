// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * TODO: a scheduler that beats CATS. This file serves requests in the order of arrival.
 * headers/scheduler.h explains every operation.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct mine {
	struct fifo pending;
};

static void mine_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct mine *mine = state;

	fifo_add(&mine->pending, rq);
}

static void mine_remove(void *state, struct io_request *rq)
{
	struct mine *mine = state;

	fifo_remove(&mine->pending, rq);
}

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *rq = mine->pending.oldest;

	if (rq)
		fifo_remove(&mine->pending, rq);
	return rq;
}

static bool mine_has_work(const void *state)
{
	const struct mine *mine = state;

	return mine->pending.oldest;
}

static const struct scheduler mine_scheduler = {
	.name = "challenger",
	.summary = "TODO",
	.state_size = sizeof(struct mine),
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
