// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * C-LOOK: sweep upwards from the head, then jump to the lowest pending request
 * and sweep again.  Reads and writes are treated alike.  The classic compromise
 * between short seeks and a fair share for every sector (PERFORM 2010 section 2.2).
 */
#include "../scheduler.h"
#include "../sorted_queue.h"

struct clook {
	u64 wraps;

	struct sorted_queue pending;
	u64 head; /* end of the last request handed out */
};

static const struct sched_field clook_counters[] = {
	SCHED_COUNTER(clook, wraps, "jumps back to the lowest pending request"),
};

static int clook_init(void *state, const struct sched_limits *limits)
{
	struct clook *clook = state;

	return sorted_queue_init(&clook->pending, limits->max_requests);
}

static void clook_exit(void *state)
{
	struct clook *clook = state;

	sorted_queue_exit(&clook->pending);
}

static void clook_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct clook *clook = state;

	sorted_queue_add(&clook->pending, rq);
}

static void clook_remove(void *state, struct io_request *rq)
{
	struct clook *clook = state;

	sorted_queue_remove(&clook->pending, rq);
}

static struct io_request *clook_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct clook *clook = state;
	struct io_request *rq = sorted_queue_sweep(&clook->pending, clook->head);

	if (!rq)
		return NULL;
	if (rq->sector < clook->head)
		clook->wraps++;
	sorted_queue_remove(&clook->pending, rq);
	clook->head = request_end(rq);
	rq->reason = PICK_ORDER;
	return rq;
}

static bool clook_has_work(const void *state)
{
	const struct clook *clook = state;

	return clook->pending.count;
}

static const struct scheduler clook_scheduler = {
	.name = "clook",
	.summary = "C-LOOK: upward sweeps, each from the lowest pending request",
	.state_size = sizeof(struct clook),
	.counters = clook_counters,
	.nr_counters = ARRAY_SIZE(clook_counters),
	.init = clook_init,
	.exit = clook_exit,
	.add = clook_add,
	.remove = clook_remove,
	.next = clook_next,
	.has_work = clook_has_work,
};
REGISTER_SCHEDULER(clook_scheduler);
