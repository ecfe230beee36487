// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SCAN, the elevator that goes to the very edge of the disk before it turns (Denning 1967). The
 * nearest pending request in the arm's direction is next. When there is none, the arm continues to
 * the edge, turns, and serves the requests that it meets on the way back. A scheduler cannot send
 * the head to the edge; core/trip.h describes how this file imitates that movement.
 *
 * With full_seek_ns = 0 this is LOOK. A request that begins where the arm is counts as ahead in
 * either direction. Of several requests for one sector the oldest goes first. The arm starts at
 * sector 0 and goes up. Reads and writes are treated alike.
 */
#include "../trip.h"

static const struct sched_field scan_tunables[] = { TRIP_FULL_SEEK };

static const struct sched_field scan_counters[] = { SWEEP_TURNS, SWEEP_TRAVEL,
						    TRIP_EDGE };

static const struct scheduler scan_scheduler = {
	.name = "scan",
	.summary = "SCAN: to the edge of the disk, and back to the other one",
	.state_size = sizeof(struct trip),
	.tunables = scan_tunables,
	.nr_tunables = ARRAY_SIZE(scan_tunables),
	.counters = scan_counters,
	.nr_counters = ARRAY_SIZE(scan_counters),
	.init = sweep_init,
	.exit = sweep_exit,
	.grown = sweep_grown,
	.add = trip_add,
	.remove = sweep_remove,
	.next = trip_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(scan_scheduler);
