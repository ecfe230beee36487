// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Deadline: batches of reads or of writes, in ascending order, reads before writes. A batch begins
 * with the oldest request if that request has waited too long (PERFORM 2010 section 2.2).
 *
 * The decisions are those of Linux 6.1's mq-deadline within one I/O priority class, so that the
 * kernel's scheduler can be checked against this one:
 *
 * - A batch that is shorter than fifo_batch continues with the follower, if there is one. When a
 *   request is handed out, the next pending request of the same direction at a higher sector
 *   becomes the follower. A request that arrives later does not become the follower, even if it is
 *   nearer. If the follower is taken back, its own follower replaces it. If the follower is added
 *   again (after a merge), it is the follower again.
 * - Otherwise reads go first. But after writes_starved decisions for reads while writes were
 *   pending, writes go first.
 * - A batch begins with the oldest request of its direction if that request has expired or there
 *   is no follower. Otherwise it begins with the follower.
 *
 * Two things may differ. The kernel's deadlines count jiffies (4 ms with HZ=250) from the insertion
 * of a request; the deadlines of this file count nanoseconds from the request's arrival. The kernel
 * orders requests for one sector by their insertion, this file by id.
 */
#include "../fifo.h"
#include "../scheduler.h"
#include "../sorted_queue.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)

/**
 * struct direction - the pending reads, or the pending writes
 * @sorted: by sector
 * @fifo: by arrival
 * @follower: the request with which a batch continues, or NULL
 * @absent: the follower, if it was taken back and may be added again, or NULL
 * @absent_id: the absent follower's id; a merge may lower the id, but another request that
 *	reuses the memory has a higher one
 */
struct direction {
	struct sorted_queue sorted;
	struct fifo fifo;
	struct io_request *follower;
	const struct io_request *absent;
	u64 absent_id;
};

struct deadline {
	u64 read_expire_ns;
	u64 write_expire_ns;
	u64 writes_starved;
	u64 fifo_batch;

	u64 batches;
	u64 expired;

	struct direction direction[IO_OPS];
	u8 op; /* direction of the batch */
	u64 batched; /* requests in it so far */
	u64 starved; /* decisions for reads while writes were pending */
};

static const struct sched_field deadline_tunables[] = {
	SCHED_TUNABLE(deadline, read_expire_ns, 500 * MS, 0, HOUR,
		      "age at which the oldest read goes first"),
	SCHED_TUNABLE(deadline, write_expire_ns, 5000 * MS, 0, HOUR,
		      "age at which the oldest write goes first"),
	SCHED_TUNABLE(deadline, writes_starved, 2, 0, 1000000,
		      "batches of reads that may go before pending writes"),
	SCHED_TUNABLE(deadline, fifo_batch, 16, 0, 1000000,
		      "most requests in one ascending batch"),
};

static const struct sched_field deadline_counters[] = {
	SCHED_COUNTER(deadline, batches, "batches begun"),
	SCHED_COUNTER(deadline, expired, "batches begun with an expired request"),
};

static void deadline_exit(void *state)
{
	struct deadline *deadline = state;

	sorted_queue_exit(&deadline->direction[IO_READ].sorted);
	sorted_queue_exit(&deadline->direction[IO_WRITE].sorted);
}

static int deadline_init(void *state, const struct sched_limits *limits)
{
	struct deadline *deadline = state;
	int error;

	error = sorted_queue_init(&deadline->direction[IO_READ].sorted,
				  limits->max_requests)
			?: sorted_queue_init(&deadline->direction[IO_WRITE].sorted,
					     limits->max_requests);
	if (error)
		deadline_exit(deadline);
	return error;
}

static void deadline_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct deadline *deadline = state;
	struct direction *direction = &deadline->direction[rq->op];

	sorted_queue_add(&direction->sorted, rq);
	fifo_add(&direction->fifo, rq);
	if (direction->absent == rq && rq->id <= direction->absent_id)
		direction->follower = rq;
}

static void take(struct direction *direction, struct io_request *rq)
{
	sorted_queue_remove(&direction->sorted, rq);
	fifo_remove(&direction->fifo, rq);
}

static void deadline_remove(void *state, struct io_request *rq)
{
	struct deadline *deadline = state;
	struct direction *direction = &deadline->direction[rq->op];

	if (direction->follower == rq) {
		direction->follower = sorted_queue_after(&direction->sorted, rq);
		direction->absent = rq;
		direction->absent_id = rq->id;
	}
	take(direction, rq);
}

static struct io_request *hand_out(struct deadline *deadline, struct io_request *rq)
{
	struct direction *direction = &deadline->direction[rq->op];

	direction->follower = sorted_queue_after(&direction->sorted, rq);
	direction->absent = NULL;
	take(direction, rq);
	deadline->batched++;
	return rq;
}

static enum io_op choose_direction(struct deadline *deadline)
{
	bool reads = deadline->direction[IO_READ].fifo.oldest;
	bool writes = deadline->direction[IO_WRITE].fifo.oldest;

	if (reads && !(writes && deadline->starved++ >= deadline->writes_starved))
		return IO_READ;
	deadline->starved = 0;
	return IO_WRITE;
}

static bool has_expired(const struct deadline *deadline, const struct io_request *rq,
			u64 now_ns)
{
	u64 expire_ns = rq->op == IO_READ ? deadline->read_expire_ns
					  : deadline->write_expire_ns;

	return now_ns >= rq->arrival_ns + expire_ns;
}

static struct io_request *begin_batch(struct deadline *deadline, u64 now_ns)
{
	struct direction *direction;
	struct io_request *rq;

	deadline->op = choose_direction(deadline);
	deadline->batched = 0;
	deadline->batches++;

	direction = &deadline->direction[deadline->op];
	rq = direction->fifo.oldest;
	rq->reason = PICK_EXPIRED;
	if (has_expired(deadline, rq, now_ns)) {
		deadline->expired++;
		return rq;
	}
	if (direction->follower)
		rq = direction->follower;
	rq->reason = PICK_ORDER;
	return rq;
}

static bool deadline_has_work(const void *state)
{
	const struct deadline *deadline = state;

	return deadline->direction[IO_READ].fifo.oldest ||
	       deadline->direction[IO_WRITE].fifo.oldest;
}

static struct io_request *deadline_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct deadline *deadline = state;
	struct io_request *rq = deadline->direction[deadline->op].follower;

	if (rq && deadline->batched < deadline->fifo_batch) {
		rq->reason = PICK_ORDER;
		return hand_out(deadline, rq);
	}
	if (!deadline_has_work(deadline))
		return NULL;
	return hand_out(deadline, begin_batch(deadline, now_ns));
}

static const struct scheduler deadline_scheduler = {
	.name = "deadline",
	.summary = "ascending batches, reads first, nobody waits for ever",
	.state_size = sizeof(struct deadline),
	.tunables = deadline_tunables,
	.nr_tunables = ARRAY_SIZE(deadline_tunables),
	.counters = deadline_counters,
	.nr_counters = ARRAY_SIZE(deadline_counters),
	.init = deadline_init,
	.exit = deadline_exit,
	.add = deadline_add,
	.remove = deadline_remove,
	.next = deadline_next,
	.has_work = deadline_has_work,
};
REGISTER_SCHEDULER(deadline_scheduler);
