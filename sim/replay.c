// SPDX-License-Identifier: MIT
#include "registry.h"
#include "replay.h"

/* What the run keeps beside its input. */
struct run {
	const struct replay *replay;
	const struct scheduler *scheduler;
	void *state;
	struct io_request *request; /* one for each row of arrivals */
	bool *pending;
	u32 arrived;
	u32 oldest; /* no row before it is pending */
	u32 nr_pending;
	struct io_request *in_service;
};

/* The row of the pending request with this id, or the next row: none. */
static u32 find_pending(const struct run *run, u64 id)
{
	u32 i = run->arrived;

	while (i-- > run->oldest) {
		if (run->pending[i] && run->request[i].id == id)
			return i;
	}
	return run->arrived;
}

static void set_pending(struct run *run, u32 i, bool pending)
{
	run->nr_pending += pending;
	run->nr_pending -= run->pending[i];
	run->pending[i] = pending;
	while (run->oldest < run->arrived && !run->pending[run->oldest])
		run->oldest++;
}

static int arrive(struct run *run)
{
	const struct replay *replay = run->replay;
	u32 row = run->arrived;
	u32 i = find_pending(run, replay->id[row]);
	struct io_request *rq = &run->request[i];
	bool is_new = i == row;

	if (is_new) {
		rq->id = replay->id[row];
		rq->arrival_ns = replay->arrival_ns[row];
		rq->owner = replay->owner[row];
		rq->op = replay->op[row];
		rq->weight = IO_WEIGHT_DEFAULT;
		rq->io_class = IO_CLASS_BEST_EFFORT;
		rq->level = IO_LEVEL_DEFAULT;
	} else {
		run->scheduler->remove(run->state, rq);
	}
	rq->sector = replay->sector[row];
	rq->sectors = replay->sectors[row];
	run->arrived++;
	set_pending(run, i, is_new || rq->sectors);
	if (run->nr_pending > replay->max_requests)
		return -ENOSPC;
	if (run->pending[i])
		run->scheduler->add(run->state, rq, replay->arrival_ns[row]);
	return 0;
}

static void complete(struct run *run, u64 now_ns)
{
	if (run->in_service && run->scheduler->completed)
		run->scheduler->completed(run->state, run->in_service, now_ns);
	run->in_service = NULL;
}

/* Everything that happens up to and at an instant. */
static int advance(struct run *run, u64 completion_ns, u64 now_ns)
{
	const struct replay *replay = run->replay;
	int error = 0;

	while (!error && run->arrived < replay->nr_arrivals &&
	       replay->arrival_ns[run->arrived] <= now_ns) {
		if (completion_ns <= replay->arrival_ns[run->arrived])
			complete(run, completion_ns);
		error = arrive(run);
	}
	complete(run, completion_ns);
	return error;
}

static void pick(struct run *run, u32 row)
{
	const struct replay *replay = run->replay;
	struct io_request *rq;

	replay->wake_ns[row] = 0;
	rq = run->scheduler->next(run->state, replay->pick_ns[row],
				  &replay->wake_ns[row]);
	replay->picked_id[row] = rq ? (s64)rq->id : REPLAY_NONE;
	replay->reason[row] = rq ? rq->reason : PICK_ORDER;
	if (rq)
		set_pending(run, rq - run->request, false);
	run->in_service = rq;
}

static int replay_all(struct run *run)
{
	const struct replay *replay = run->replay;
	u64 completion_ns;
	int error = 0;
	u32 row;

	for (row = 0; !error && row < replay->nr_picks; row++) {
		completion_ns = replay->pick_ns[row];
		if (row && replay->completion_ns)
			completion_ns = replay->completion_ns[row - 1];
		error = advance(run, completion_ns, replay->pick_ns[row]);
		if (!error)
			pick(run, row);
	}
	return error;
}

static int set_up(struct run *run)
{
	const struct replay *replay = run->replay;
	const struct scheduler *scheduler = run->scheduler;
	struct sched_limits limits = {
		.capacity_sectors = replay->capacity_sectors,
		.max_requests = replay->max_requests,
	};
	u32 i;

	run->request = port_zalloc(replay->nr_arrivals * sizeof(*run->request));
	run->pending = port_zalloc(replay->nr_arrivals * sizeof(*run->pending));
	run->state = registry_new_state(scheduler);
	if (!run->request || !run->pending || !run->state)
		return -ENOMEM;
	for (i = 0; i < scheduler->nr_tunables; i++)
		*sched_field_value(run->state, &scheduler->tunables[i]) =
			replay->tunables[i];
	return scheduler->init ? scheduler->init(run->state, &limits) : 0;
}

static void read_counters(const struct run *run)
{
	const struct scheduler *scheduler = run->scheduler;
	u32 i;

	for (i = 0; i < scheduler->nr_counters; i++)
		run->replay->counters[i] =
			*sched_field_value(run->state, &scheduler->counters[i]);
}

int replay_run(const struct replay *replay)
{
	struct run run = { .replay = replay, .scheduler = replay->scheduler };
	int error = set_up(&run);

	if (!error) {
		error = replay_all(&run);
		read_counters(&run);
		if (run.scheduler->exit)
			run.scheduler->exit(run.state);
	}
	port_free(run.state);
	port_free(run.pending);
	port_free(run.request);
	return error;
}
