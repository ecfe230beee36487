// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * TBBD, the table-building bus driver of Geist, Steele and Westall (CMG 2005): Geist and Ross's
 * optimal order combined with a wait. TBBD is CATS without a cache and without deadlines. This file
 * follows the descriptions in PERFORM 2010 section 2.2 and Jones 2010 section 4.4.1.
 *
 * 1. Busdriver. When a request completes and its owner has no other request pending, the disk is
 * kept idle for up to busdriver_ns for that owner's next request.
 *
 * 2. Table. The first request of the statically optimal order of all pending requests is served.
 * The order is kept until a request arrives or is taken back.
 *
 * The papers distinguish reads from writes only for CATS, so TBBD treats them alike. A request far
 * from the others may wait forever.
 */
#include "../busdriver.h"
#include "../plan.h"
#include "../scheduler.h"

struct tbbd {
	struct sorted_queue pending;
	u64 head; /* end of the last request handed out */
	struct busdriver busdriver;
	struct plan plan;
};

static const struct sched_field tbbd_tunables[] = {
	BUSDRIVER_TUNABLE(tbbd),
};

static const struct sched_field tbbd_counters[] = {
	PLAN_COUNTER(tbbd),
	BUSDRIVER_COUNTER(tbbd, won, "that its request ended"),
	BUSDRIVER_COUNTER(tbbd, lost, "that ran out of time"),
};

static void tbbd_exit(void *state)
{
	struct tbbd *tbbd = state;

	sorted_queue_exit(&tbbd->pending);
	plan_exit(&tbbd->plan);
}

static int tbbd_init(void *state, const struct sched_limits *limits)
{
	struct tbbd *tbbd = state;
	int error = sorted_queue_init(&tbbd->pending, limits->max_requests);

	error = error ?: plan_init(&tbbd->plan, limits);
	if (error)
		tbbd_exit(tbbd);
	return error;
}

static void tbbd_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct tbbd *tbbd = state;

	sorted_queue_add(&tbbd->pending, rq);
	plan_forget(&tbbd->plan);
	busdriver_see(&tbbd->busdriver, rq->owner, now_ns);
}

static void tbbd_remove(void *state, struct io_request *rq)
{
	struct tbbd *tbbd = state;

	sorted_queue_remove(&tbbd->pending, rq);
	plan_forget(&tbbd->plan);
}

static struct io_request *hand_out(struct tbbd *tbbd)
{
	struct io_request *rq = plan_next(&tbbd->plan, &tbbd->pending, tbbd->head);

	sorted_queue_remove(&tbbd->pending, rq);
	tbbd->head = request_end(rq);
	rq->reason = tbbd->busdriver.paid ? PICK_WAITED : PICK_TABLE;
	busdriver_leave(&tbbd->busdriver);
	return rq;
}

static struct io_request *tbbd_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct tbbd *tbbd = state;

	if (!tbbd->pending.count)
		return NULL;
	busdriver_look_at_clock(&tbbd->busdriver, now_ns);
	if (!tbbd->busdriver.waits)
		return hand_out(tbbd);
	tbbd->busdriver.held = true;
	*wake_ns = tbbd->busdriver.until_ns;
	return NULL;
}

static void tbbd_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct tbbd *tbbd = state;

	busdriver_begin(&tbbd->busdriver, rq->owner, &tbbd->pending, now_ns);
}

static bool tbbd_has_work(const void *state)
{
	const struct tbbd *tbbd = state;

	return tbbd->pending.count;
}

static const struct scheduler tbbd_scheduler = {
	.name = "tbbd",
	.summary = "table-building bus driver: the optimal order, and waits for its "
		   "owners",
	.state_size = sizeof(struct tbbd),
	.tunables = tbbd_tunables,
	.nr_tunables = ARRAY_SIZE(tbbd_tunables),
	.counters = tbbd_counters,
	.nr_counters = ARRAY_SIZE(tbbd_counters),
	.init = tbbd_init,
	.exit = tbbd_exit,
	.add = tbbd_add,
	.remove = tbbd_remove,
	.next = tbbd_next,
	.completed = tbbd_completed,
	.has_work = tbbd_has_work,
};
REGISTER_SCHEDULER(tbbd_scheduler);
