// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The nearest request, unless the oldest has waited for too long: then the oldest.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct mine {
	struct fifo pending;
	u64 head;

	u64 patience_ns;
};

static const struct sched_field mine_tunables[] = {
	SCHED_TUNABLE(mine, patience_ns, 1000000000ull, 0, 1000000000000ull,
		      "a request that has waited this long goes first"),
};

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

static u64 distance(u64 head, u64 sector)
{
	return sector < head ? head - sector : sector - head;
}

/* Return whether `rq` goes before `best`, which is not younger than `rq`. */
static bool is_nearer(u64 head, const struct io_request *rq,
		      const struct io_request *best)
{
	u64 one = distance(head, rq->sector);
	u64 other = distance(head, best->sector);

	return one < other || (one == other && rq->sector > best->sector);
}

static struct io_request *serve(struct mine *mine, struct io_request *rq)
{
	fifo_remove(&mine->pending, rq);
	mine->head = request_end(rq);
	return rq;
}

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *best = mine->pending.oldest;
	struct io_request *rq;

	if (!best)
		return NULL;
	if (best->arrival_ns + mine->patience_ns <= now_ns)
		return serve(mine, best);
	for (rq = best->fifo_next; rq; rq = rq->fifo_next) {
		if (is_nearer(mine->head, rq, best))
			best = rq;
	}
	return serve(mine, best);
}

static bool mine_has_work(const void *state)
{
	const struct mine *mine = state;

	return mine->pending.oldest;
}

static const struct scheduler mine_scheduler = {
	.name = "patient",
	.summary = "SSTF with a limit to waiting",
	.state_size = sizeof(struct mine),
	.tunables = mine_tunables,
	.nr_tunables = ARRAY_SIZE(mine_tunables),
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
