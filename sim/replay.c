// SPDX-License-Identifier: MIT
#include "registry.h"
#include "replay.h"
#include "fields.h"

enum whereabouts { FREE = 0, PENDING, IN_SERVICE };

struct place {
	struct io_request rq; /* first, so that it can be found again */
	enum whereabouts is;
};

struct run {
	const struct replay *replay;
	const struct scheduler *scheduler;
	void *state;
	struct place *place;
	struct place *last; /* what next handed out last, or NULL */
	u32 nr_pending;
};

static bool holds(const struct place *place, enum whereabouts is, u64 id)
{
	return place->is == is && place->rq.id == id;
}

static int add(struct run *run, const struct tape_call *call)
{
	struct place *place = &run->place[call->place];

	if (place->is != FREE)
		return -EINVAL;
	if (++run->nr_pending > run->replay->max_requests)
		return -ENOSPC;
	place->is = PENDING;
	place->rq = (struct io_request){
		.id = call->id,
		.arrival_ns = call->arrival_ns,
		.sector = call->sector,
		.sectors = call->sectors,
		.owner = call->owner,
		.weight = call->weight,
		.op = call->op,
		.io_class = call->io_class,
		.level = call->level,
	};
	run->scheduler->add(run->state, &place->rq, call->now_ns);
	return 0;
}

static void take_back(struct run *run, const struct tape_call *call)
{
	struct place *place = &run->place[call->place];

	if (!holds(place, PENDING, call->id))
		return;
	run->scheduler->remove(run->state, &place->rq);
	run->nr_pending--;
	place->is = FREE;
}

static void next(struct run *run, struct tape_call *call)
{
	struct tape_call answer = { .now_ns = call->now_ns, .kind = TAPE_NEXT };
	struct io_request *rq =
		run->scheduler->next(run->state, call->now_ns, &answer.wake_ns);

	run->last = (struct place *)rq;
	if (rq) {
		tape_describe(&answer, rq);
		answer.place = run->last - run->place;
		answer.reason = rq->reason;
		run->last->is = IN_SERVICE;
		run->nr_pending--;
	}
	*call = answer;
}

static void complete(struct run *run, const struct tape_call *call)
{
	struct place *place = call->id ? &run->place[call->place] : run->last;

	if (!place || !holds(place, IN_SERVICE, call->id ?: place->rq.id))
		return;
	if (run->scheduler->completed)
		run->scheduler->completed(run->state, &place->rq, call->now_ns);
	place->is = FREE;
}

static int play(struct run *run, struct tape_call *call)
{
	if (call->place >= run->replay->places)
		return -EINVAL;
	switch (call->kind) {
	case TAPE_ADD:
		return add(run, call);
	case TAPE_REMOVE:
		take_back(run, call);
		return 0;
	case TAPE_NEXT:
		next(run, call);
		return 0;
	case TAPE_COMPLETED:
		complete(run, call);
		return 0;
	default:
		return -EINVAL;
	}
}

static int set_up(struct run *run)
{
	const struct scheduler *scheduler = run->scheduler;
	struct sched_limits limits = {
		.capacity_sectors = run->replay->capacity_sectors,
		.max_requests = run->replay->max_requests,
	};
	int error;

	run->place = port_zalloc(run->replay->places * sizeof(*run->place));
	run->state = registry_new_state(scheduler);
	if (!run->place || !run->state)
		return -ENOMEM;
	error = scheduler->init ? scheduler->init(run->state, &limits) : 0;
	fields_set(run->state, scheduler->tunables, scheduler->nr_tunables,
		   run->replay->tunables);
	return error;
}

static void read_counters(const struct run *run)
{
	const struct scheduler *scheduler = run->scheduler;

	fields_get(run->state, scheduler->counters, scheduler->nr_counters,
		   run->replay->counters);
}

int replay_run(const struct replay *replay)
{
	struct run run = { .replay = replay, .scheduler = replay->scheduler };
	int error = set_up(&run);
	u64 i;

	if (!error) {
		for (i = 0; !error && i < replay->nr_calls; i++)
			error = play(&run, &replay->calls[i]);
		read_counters(&run);
		if (run.scheduler->exit)
			run.scheduler->exit(run.state);
	}
	port_free(run.state);
	port_free(run.place);
	return error;
}
