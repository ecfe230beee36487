// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * LOOK: the nearest pending request in the arm's direction is next; when there is none, the arm
 * turns. A request that begins where the head is counts as ahead in either direction. Of several
 * requests for one sector the oldest goes first. The arm starts at sector 0 and goes up. Reads and
 * writes are treated alike.
 */
#include "../sweep.h"

struct look {
	struct sweep sweep;
};

static const struct sched_field look_counters[] = { SWEEP_TURNS, SWEEP_TRAVEL };

static struct io_request *look_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct look *look = state;
	struct sweep *sweep = &look->sweep;

	if (!sweep->pending.count)
		return NULL;
	if (!sweep_ahead(sweep, sweep->head))
		sweep_turn(sweep);
	return sweep_serve(sweep, sweep_ahead(sweep, sweep->head));
}

static const struct scheduler look_scheduler = {
	.name = "look",
	.summary = "LOOK: up to the last request, down to the last request",
	.state_size = sizeof(struct look),
	.counters = look_counters,
	.nr_counters = ARRAY_SIZE(look_counters),
	.init = sweep_init,
	.exit = sweep_exit,
	.add = sweep_add,
	.remove = sweep_remove,
	.next = look_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(look_scheduler);
