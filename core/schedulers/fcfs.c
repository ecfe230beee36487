// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * First come, first served: the order of arrival. This file is the template to copy for a new
 * scheduler; docs/schedulers/fcfs.md walks through it.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct fcfs {
	struct fifo pending;
};

static void fcfs_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct fcfs *fcfs = state;

	fifo_add(&fcfs->pending, rq);
}

static void fcfs_remove(void *state, struct io_request *rq)
{
	struct fcfs *fcfs = state;

	fifo_remove(&fcfs->pending, rq);
}

static struct io_request *fcfs_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct fcfs *fcfs = state;
	struct io_request *rq = fcfs->pending.oldest;

	if (rq)
		fifo_remove(&fcfs->pending, rq);
	return rq;
}

static bool fcfs_has_work(const void *state)
{
	const struct fcfs *fcfs = state;

	return fcfs->pending.oldest;
}

static const struct scheduler fcfs_scheduler = {
	.name = "fcfs",
	.summary = "first come, first served",
	.state_size = sizeof(struct fcfs),
	.add = fcfs_add,
	.remove = fcfs_remove,
	.next = fcfs_next,
	.has_work = fcfs_has_work,
};
REGISTER_SCHEDULER(fcfs_scheduler);
