// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * LOOK: on the way up the lowest request at or above the head, on the way down the highest at or
 * below it; the arm turns when there is none. Of several at one sector, the oldest.
 */
#include "../fifo.h"
#include "../scheduler.h"

struct mine {
	struct fifo pending;
	u64 head;
	bool down;
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

static bool is_ahead(const struct mine *mine, const struct io_request *rq)
{
	return mine->down ? rq->sector <= mine->head : rq->sector >= mine->head;
}

static bool is_nearer(const struct mine *mine, const struct io_request *rq,
		      const struct io_request *best)
{
	return mine->down ? rq->sector > best->sector : rq->sector < best->sector;
}

static struct io_request *nearest_ahead(const struct mine *mine)
{
	struct io_request *best = NULL;
	struct io_request *rq;

	for (rq = mine->pending.oldest; rq; rq = rq->fifo_next) {
		if (is_ahead(mine, rq) && (!best || is_nearer(mine, rq, best)))
			best = rq;
	}
	return best;
}

static struct io_request *mine_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct mine *mine = state;
	struct io_request *rq = nearest_ahead(mine);

	if (!rq && mine->pending.oldest) {
		mine->down = !mine->down;
		rq = nearest_ahead(mine);
	}
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
	.name = "my-elevator",
	.summary = "LOOK, the elevator",
	.state_size = sizeof(struct mine),
	.add = mine_add,
	.remove = mine_remove,
	.next = mine_next,
	.has_work = mine_has_work,
};
REGISTER_SCHEDULER(mine_scheduler);
