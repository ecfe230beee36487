// SPDX-License-Identifier: MIT
#include "replay.h"
#include "fields.h"

enum whereabouts { FREE = 0, PENDING, IN_SERVICE };

struct place {
	struct io_request rq; /* first member: has the place's address */
	enum whereabouts is;
	u64 positioning_ns; /* from the tape */
};

struct run {
	const struct replay *replay;
	struct contract contract;
	void *state;
	struct place *place;
	struct place *last; /* place of the last pick, or NULL */
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
	contract_add(&run->contract, &place->rq, call->now_ns);
	return 0;
}

static void take_back(struct run *run, const struct tape_call *call)
{
	struct place *place = &run->place[call->place];

	if (!holds(place, PENDING, call->id))
		return;
	contract_remove(&run->contract, &place->rq);
	run->nr_pending--;
	place->is = FREE;
}

static int next(struct run *run, struct tape_call *call)
{
	struct tape_call answer = { .now_ns = call->now_ns, .kind = TAPE_NEXT };
	struct io_request *rq =
		contract_next(&run->contract, call->now_ns, &answer.wake_ns);

	if (contract_is_broken(&run->contract))
		return -EPROTO;
	run->last = (struct place *)rq;
	if (rq) {
		tape_describe(&answer, rq);
		answer.place = run->last - run->place;
		answer.reason = rq->reason;
		run->last->is = IN_SERVICE;
		run->nr_pending--;
	}
	*call = answer;
	return 0;
}

static void complete(struct run *run, const struct tape_call *call)
{
	struct place *place = call->id ? &run->place[call->place] : run->last;

	if (!place || !holds(place, IN_SERVICE, call->id ?: place->rq.id))
		return;
	contract_completed(&run->contract, &place->rq, call->now_ns);
	place->is = FREE;
}

/*
 * Store the positioning time that foreseen() returns during the next call of the scheduler's next.
 */
static void foresee(struct run *run, const struct tape_call *call)
{
	struct place *place = &run->place[call->place];

	if (holds(place, PENDING, call->id))
		place->positioning_ns = call->wake_ns;
}

static u64 foreseen(void *device, const struct io_request *rq, u64 now_ns)
{
	return ((const struct place *)rq)->positioning_ns;
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
		return next(run, call);
	case TAPE_COMPLETED:
		complete(run, call);
		return 0;
	case TAPE_POSITIONING:
		foresee(run, call);
		return 0;
	case TAPE_GROWN:
		contract_grown(&run->contract, call->sector);
		return 0;
	default:
		return -EINVAL;
	}
}

static int set_up(struct run *run)
{
	const struct replay *replay = run->replay;
	const struct scheduler *scheduler = replay->scheduler;
	struct sched_limits limits = {
		.capacity_sectors = replay->capacity_sectors,
		.max_requests = replay->max_requests,
		.depth = replay->depth,
		.positioning_ns = foreseen,
	};
	int error;

	run->place = port_zalloc(replay->places * sizeof(*run->place));
	run->state = port_zalloc(scheduler->state_size);
	if (!run->place || !run->state)
		return -ENOMEM;
	fields_reset(run->state, scheduler->tunables, scheduler->nr_tunables);
	error = contract_init(&run->contract, scheduler, run->state, &limits,
			      &run->place->rq, sizeof(*run->place), replay->places);
	fields_set(run->state, scheduler->tunables, scheduler->nr_tunables,
		   replay->tunables);
	return error;
}

static void take_down(struct run *run)
{
	const struct scheduler *scheduler = run->contract.scheduler;

	memcpy(run->replay->broken, run->contract.broken, CONTRACT_TEXT);
	if (scheduler)
		fields_get(run->state, scheduler->counters, scheduler->nr_counters,
			   run->replay->counters);
	contract_exit(&run->contract);
	port_free(run->state);
	port_free(run->place);
}

int replay_run(const struct replay *replay)
{
	struct run run = { .replay = replay };
	int error = set_up(&run);
	u64 i;

	for (i = 0; !error && i < replay->nr_calls; i++) {
		error = play(&run, &replay->calls[i]);
		replay->watch->events++;
	}
	take_down(&run);
	return error;
}
