// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * V(R) (Geist and Daniel 1987): the pending request at the smallest effective distance. The
 * effective distance is the distance from the head to the first sector, plus R times the size of
 * the disk if the arm has to turn. V(0) is SSTF and V(1) is LOOK; the larger R is, the less readily
 * the arm turns.
 *
 * The direction is that of the head's last movement, upwards at first. A request that begins where
 * the head is needs no turn. Of two requests at the same effective distance, the one at the higher
 * sector goes first; of several requests for one sector, the oldest goes first. Reads and writes
 * are treated alike.
 */
#include "../sweep.h"

struct vr {
	struct sweep sweep;

	u64 r_milli;
};

static const struct sched_field vr_tunables[] = {
	SCHED_TUNABLE(vr, r_milli, 200, 0, 1000,
		      "R in thousandths: from 0, SSTF, to 1000, LOOK"),
};

static const struct sched_field vr_counters[] = { SWEEP_TURNS, SWEEP_TRAVEL };

static struct io_request *vr_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct vr *vr = state;
	u64 turn_sectors = port_mul_div(vr->sweep.capacity_sectors, vr->r_milli, 1000);
	struct io_request *rq = sweep_nearest(&vr->sweep, turn_sectors);

	return rq ? sweep_turn_and_serve(&vr->sweep, rq) : NULL;
}

static const struct scheduler vr_scheduler = {
	.name = "vr",
	.summary = "V(R): the nearest request, where turning counts as a distance",
	.state_size = sizeof(struct vr),
	.tunables = vr_tunables,
	.nr_tunables = ARRAY_SIZE(vr_tunables),
	.counters = vr_counters,
	.nr_counters = ARRAY_SIZE(vr_counters),
	.init = sweep_init,
	.exit = sweep_exit,
	.grown = sweep_grown,
	.add = sweep_add,
	.remove = sweep_remove,
	.next = vr_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(vr_scheduler);
