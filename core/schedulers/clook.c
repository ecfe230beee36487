// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * C-LOOK: sweep upwards from the head, then jump to the lowest pending request and sweep again.
 * Reads and writes are treated alike. C-LOOK is the classic compromise between short seeks and
 * equal service for every sector (PERFORM 2010 section 2.2).
 */
#include "../sweep.h"

struct clook {
	struct sweep sweep;

	u64 wraps;
};

static const struct sched_field clook_counters[] = {
	SCHED_COUNTER(clook, wraps, "jumps back to the lowest pending request"),
	SWEEP_TRAVEL,
};

static struct io_request *clook_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct clook *clook = state;
	struct sweep *sweep = &clook->sweep;
	struct io_request *rq = sorted_queue_sweep(&sweep->pending, sweep->head);

	if (!rq)
		return NULL;
	if (rq->sector < sweep->head)
		clook->wraps++;
	return sweep_serve(sweep, rq);
}

static const struct scheduler clook_scheduler = {
	.name = "clook",
	.summary = "C-LOOK: upward sweeps, each from the lowest pending request",
	.state_size = sizeof(struct clook),
	.counters = clook_counters,
	.nr_counters = ARRAY_SIZE(clook_counters),
	.init = sweep_init,
	.exit = sweep_exit,
	.add = sweep_add,
	.remove = sweep_remove,
	.next = clook_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(clook_scheduler);
