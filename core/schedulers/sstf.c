// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SSTF, shortest seek time first (Denning 1967): the pending request that begins nearest to the
 * head. Of two requests at the same distance, the one at the higher sector goes first; of several
 * requests for one sector, the oldest goes first. Reads and writes are treated alike, and a request
 * far from the head may wait forever.
 */
#include "../sweep.h"

struct sstf {
	struct sweep sweep;
};

static const struct sched_field sstf_counters[] = { SWEEP_TURNS, SWEEP_TRAVEL };

static struct io_request *sstf_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct sstf *sstf = state;
	struct io_request *rq = sweep_nearest(&sstf->sweep, 0);

	return rq ? sweep_turn_and_serve(&sstf->sweep, rq) : NULL;
}

static const struct scheduler sstf_scheduler = {
	.name = "sstf",
	.summary = "SSTF: the request nearest to the head",
	.state_size = sizeof(struct sstf),
	.counters = sstf_counters,
	.nr_counters = ARRAY_SIZE(sstf_counters),
	.init = sweep_init,
	.exit = sweep_exit,
	.add = sweep_add,
	.remove = sweep_remove,
	.next = sstf_next,
	.has_work = sweep_has_work,
};
REGISTER_SCHEDULER(sstf_scheduler);
