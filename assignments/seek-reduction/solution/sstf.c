// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SSTF: the pending request whose first sector is nearest to the head. Of two at the same distance,
 * the one above the head; of several at one sector, the oldest.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct mine {
	struct fifo pending;
	u64 head;
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

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *best = mine->pending.oldest;
	struct io_request *rq;

	if (!best)
		return NULL;
	for (rq = best->fifo_next; rq; rq = rq->fifo_next) {
		if (is_nearer(mine->head, rq, best))
			best = rq;
	}
	fifo_remove(&mine->pending, best);
	mine->head = request_end(best);
	return best;
}

static bool mine_has_work(const void *state)
{
	const struct mine *mine = state;

	return mine->pending.oldest;
}

static const struct scheduler mine_scheduler = {
	.name = "my-sstf",
	.summary = "shortest seek time first",
	.state_size = sizeof(struct mine),
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
