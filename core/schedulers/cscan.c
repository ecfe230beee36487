// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * C-SCAN, the circular elevator (Seaman, Lind and Wilson 1966). The nearest pending request at or
 * above the arm is next. When there is none, the arm continues to the upper edge of the disk,
 * returns to sector 0 without serving, and goes up again. A scheduler cannot send the head to the
 * edge; core/trip.h describes how this file imitates that movement.
 *
 * With full_seek_ns = 0 this is C-LOOK. Of several requests for one sector the oldest goes first.
 * Reads and writes are treated alike.
 */
#include "../trip.h"

static const struct sched_field cscan_tunables[] = { TRIP_FULL_SEEK };

static const struct sched_field cscan_counters[] = { TRIP_WRAPS, SWEEP_TRAVEL,
						     TRIP_EDGE };

static int cscan_init(void *state, const struct sched_limits *limits)
{
	struct trip *trip = state;

	trip->circular = true;
	return sweep_init(state, limits);
}

static const struct scheduler cscan_scheduler = {
	.name = "cscan",
	.summary = "C-SCAN: upward sweeps over all of the disk",
	.state_size = sizeof(struct trip),
	.tunables = cscan_tunables,
	.nr_tunables = ARRAY_SIZE(cscan_tunables),
	.counters = cscan_counters,
	.nr_counters = ARRAY_SIZE(cscan_counters),
	.init = cscan_init,
	.exit = sweep_exit,
	.grown = sweep_grown,
	.add = trip_add,
	.remove = sweep_remove,
	.next = trip_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(cscan_scheduler);
