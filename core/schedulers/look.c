// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * LOOK: the nearest pending request in the arm's direction; the arm turns when there
 * is none.  A request that begins where the head is counts as ahead, whichever way
 * the arm goes; of several for one sector the oldest goes first.  The arm starts at
 * sector 0 and goes up.  Reads and writes are treated alike.
 */
#include "../arm.h"

struct look {
	struct arm arm;
};

static const struct sched_field look_counters[] = { ARM_TURNS, ARM_TRAVEL };

static struct io_request *look_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct look *look = state;
	struct arm *arm = &look->arm;

	if (!arm->pending.count)
		return NULL;
	if (!arm_ahead(arm, arm->head))
		arm_turn(arm);
	return arm_serve(arm, arm_ahead(arm, arm->head));
}

static const struct scheduler look_scheduler = {
	.name = "look",
	.summary = "LOOK: up to the last request, down to the last request",
	.state_size = sizeof(struct look),
	.counters = look_counters,
	.nr_counters = ARRAY_SIZE(look_counters),
	.init = arm_init,
	.exit = arm_exit,
	.add = arm_add,
	.remove = arm_remove,
	.next = look_next,
	.has_work = arm_has_work,
};
REGISTER_SCHEDULER(look_scheduler);
