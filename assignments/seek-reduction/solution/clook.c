// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * C-LOOK: the lowest pending request at or above the head; if there is none, the lowest of all. Of
 * several at one sector, the oldest.
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

/* Return the lowest request at or above a sector, or NULL. */
static struct io_request *lowest(const struct mine *mine, u64 from)
{
	struct io_request *best = NULL;
	struct io_request *rq;

	for (rq = mine->pending.oldest; rq; rq = rq->fifo_next) {
		if (rq->sector >= from && (!best || rq->sector < best->sector))
			best = rq;
	}
	return best;
}

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *rq = lowest(mine, mine->head) ?: lowest(mine, 0);

	if (!rq)
		return NULL;
	fifo_remove(&mine->pending, rq);
	mine->head = request_end(rq);
	return rq;
}

static bool mine_has_work(const void *state)
{
	const struct mine *mine = state;

	return mine->pending.oldest;
}

static const struct scheduler mine_scheduler = {
	.name = "my-clook",
	.summary = "C-LOOK",
	.state_size = sizeof(struct mine),
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
