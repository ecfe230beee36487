// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SPTF, shortest positioning time first: the pending request whose first sector can be under the
 * head soonest, counting seek and rotation (Jacobson and Wilkes, HPL-CSP-91-7, 1991; Seltzer, Chen
 * and Ousterhout, USENIX 1990). For a read that the drive's cache holds, the time of a hit is used
 * instead.
 *
 * Requests age, so that none waits forever (Worthington, Ganger and Patt, SIGMETRICS 1994): the
 * waiting time of a request, times age_permille / 1000, is subtracted from its positioning time. Of
 * two requests with equal results, the older one goes first. Reads and writes are treated alike.
 *
 * This file does not model the disk itself: a host with a model provides the positioning times.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct sptf {
	u64 age_permille;
	u64 positioning_ns;
	u64 aged;

	struct fifo pending;
	u64 (*ask)(void *device, const struct io_request *rq, u64 now_ns);
	void *device;
};

static const struct sched_field sptf_tunables[] = {
	SCHED_TUNABLE(
		sptf, age_permille, 10, 0, 1000,
		"weight of waiting against positioning time, thousandths; 0: none"),
};

static const struct sched_field sptf_counters[] = {
	SCHED_COUNTER(sptf, positioning_ns,
		      "sum of the predicted positioning times of all choices"),
	SCHED_COUNTER(sptf, aged, "requests chosen by age before a nearer one"),
};

static int sptf_init(void *state, const struct sched_limits *limits)
{
	struct sptf *sptf = state;

	sptf->ask = limits->positioning_ns;
	sptf->device = limits->device;
	return 0;
}

static void sptf_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct sptf *sptf = state;

	fifo_add(&sptf->pending, rq);
}

static void sptf_remove(void *state, struct io_request *rq)
{
	struct sptf *sptf = state;

	fifo_remove(&sptf->pending, rq);
}

static s64 aged_ns(const struct sptf *sptf, const struct io_request *rq, u64 ns,
		   u64 now_ns)
{
	return (s64)ns -
	       (s64)port_mul_div(now_ns - rq->arrival_ns, sptf->age_permille, 1000);
}

static struct io_request *sptf_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct sptf *sptf = state;
	struct io_request *best = NULL;
	u64 best_ns = 0, nearest_ns = U64_MAX;
	struct io_request *rq;

	for (rq = sptf->pending.oldest; rq; rq = rq->fifo_next) {
		u64 ns = sptf->ask(sptf->device, rq, now_ns);

		if (ns < nearest_ns)
			nearest_ns = ns;
		if (!best || aged_ns(sptf, rq, ns, now_ns) <
				     aged_ns(sptf, best, best_ns, now_ns)) {
			best = rq;
			best_ns = ns;
		}
	}
	if (!best)
		return NULL;
	sptf->positioning_ns += best_ns;
	sptf->aged += best_ns > nearest_ns;
	fifo_remove(&sptf->pending, best);
	return best;
}

static bool sptf_has_work(const void *state)
{
	const struct sptf *sptf = state;

	return sptf->pending.oldest;
}

static const struct scheduler sptf_scheduler = {
	.name = "sptf",
	.summary = "SPTF: the request soonest under the head, aged",
	.state_size = sizeof(struct sptf),
	.tunables = sptf_tunables,
	.nr_tunables = ARRAY_SIZE(sptf_tunables),
	.counters = sptf_counters,
	.nr_counters = ARRAY_SIZE(sptf_counters),
	.needs_model = true,
	.init = sptf_init,
	.add = sptf_add,
	.remove = sptf_remove,
	.next = sptf_next,
	.has_work = sptf_has_work,
};
REGISTER_SCHEDULER(sptf_scheduler);
