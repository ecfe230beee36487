// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The pending request that the head reaches first, by the disk's own model. When the oldest request
 * has waited for max_wait_ns, it is served, but at most once in EVERY requests: if all wait long, the
 * order of arrival would only make them wait longer.
 */
#include "../fifo.h"
#include "../scheduler.h"

#define EVERY 8

struct mine {
	struct fifo pending;
	u32 since_oldest;
	u64 (*positioning_ns)(void *device, const struct io_request *rq, u64 now_ns);
	void *device;

	u64 max_wait_ns;
};

static const struct sched_field mine_tunables[] = {
	SCHED_TUNABLE(mine, max_wait_ns, 300000000ull, 0, 1000000000000ull,
		      "a request that has waited this long goes first"),
};

static int mine_init(void *state, const struct sched_limits *limits)
{
	struct mine *mine = state;

	mine->positioning_ns = limits->positioning_ns;
	mine->device = limits->device;
	return 0;
}

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

static struct io_request *nearest(const struct mine *mine, u64 now_ns)
{
	struct io_request *best = NULL;
	struct io_request *rq;
	u64 best_ns = 0;

	for (rq = mine->pending.oldest; rq; rq = rq->fifo_next) {
		u64 ns = mine->positioning_ns(mine->device, rq, now_ns);

		if (!best || ns < best_ns) {
			best = rq;
			best_ns = ns;
		}
	}
	return best;
}

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *rq = mine->pending.oldest;

	if (!rq)
		return NULL;
	if (++mine->since_oldest < EVERY || rq->arrival_ns + mine->max_wait_ns > now_ns)
		rq = nearest(mine, now_ns);
	else
		mine->since_oldest = 0;
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
	.summary = "shortest positioning time, with a limit to waiting",
	.state_size = sizeof(struct mine),
	.tunables = mine_tunables,
	.nr_tunables = ARRAY_SIZE(mine_tunables),
	.needs_model = true,
	.init = mine_init,
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
