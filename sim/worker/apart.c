// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine.h"
#include "apart_line.h"

/* A request that the scheduler has or had. */
struct slot {
	struct io_request *rq;
	bool pending;
};

/* The proxy itself; this process has only one scheduler. */
static struct {
	struct apart_line line;
	struct scheduler scheduler;
	struct sched_limits limits;
	struct slot *slots;
	u32 nr_slots;
	u32 *free; /* a ring: the slot freed longest ago is reused first */
	u32 first_free;
	u32 nr_free;
} apart;

/* Returned if the scheduler chose a request that was never added. */
static struct io_request nowhere;

static struct line_call *call(enum line_kind kind)
{
	return apart_line_call(&apart.line, kind);
}

static void ask(struct fields *fields)
{
	apart_line_ask(&apart.line, fields);
}

/* Slots. */

static bool slots_init(u32 count)
{
	u32 i;

	apart.slots = calloc(count, sizeof(*apart.slots));
	apart.free = calloc(count, sizeof(*apart.free));
	if (!apart.slots || !apart.free)
		return false;
	apart.nr_slots = apart.nr_free = count;
	for (i = 0; i < count; i++)
		apart.free[i] = i;
	return true;
}

static u32 slot_take(struct io_request *rq)
{
	u32 slot = apart.free[apart.first_free];

	apart.first_free = (apart.first_free + 1) % apart.nr_slots;
	apart.nr_free--;
	apart.slots[slot] = (struct slot){ .rq = rq, .pending = true };
	rq->slot = slot;
	return slot;
}

static void slot_give(u32 slot)
{
	u32 last = (apart.first_free + apart.nr_free++) % apart.nr_slots;

	apart.free[last] = slot;
	apart.slots[slot].pending = false;
}

/* The operations. */

static int apart_init(void *state, const struct sched_limits *limits)
{
	u64 most = 2ull * limits->max_requests + limits->depth + 1;
	struct line_call *made;

	if (most > LINE_SLOTS || !slots_init(most))
		return -ENOMEM;
	apart_line_tell_tunables(&apart.line, state, true);
	apart.limits = *limits;
	made = call(LINE_INIT);
	made->slot = most;
	made->limits = *limits;
	made->limits.positioning_ns = NULL;
	made->limits.device = NULL;
	ask(state);
	return apart.line.reply.error;
}

static void apart_exit(void *state)
{
	call(LINE_EXIT);
	ask(state);
	free(apart.slots);
	free(apart.free);
}

static void apart_grown(void *state, u64 capacity_sectors)
{
	call(LINE_GROWN)->value = capacity_sectors;
}

static void apart_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct line_call *made;

	if (!apart.nr_free) /* the host's error: more than max_requests are pending */
		apart_line_alone(&apart.line);
	made = call(LINE_ADD);
	made->slot = slot_take(rq);
	made->now_ns = now_ns;
	made->rq = *rq;
}

static void apart_remove(void *state, struct io_request *rq)
{
	call(LINE_REMOVE)->slot = rq->slot;
	slot_give(rq->slot);
}

/*
 * Before a call of next, send the positioning times of all pending requests, since next may need
 * them.
 */
static void tell_positions(u64 now_ns)
{
	struct line_call *made;
	u32 i;

	for (i = 0; i < apart.nr_slots; i++) {
		if (!apart.slots[i].pending)
			continue;
		made = call(LINE_POSITION);
		made->slot = i;
		made->value = apart.limits.positioning_ns(apart.limits.device,
							  apart.slots[i].rq, now_ns);
	}
}

/*
 * Return the host's request that the scheduler chose, with the scheduler's changes to its copy of
 * the request. Return NULL if the scheduler chose none.
 */
static struct io_request *chosen(void)
{
	u32 number = apart.line.reply.slot;
	struct slot *slot = &apart.slots[number];
	struct io_request *rq;

	if (number == LINE_NO_SLOT)
		return NULL;
	if (number >= apart.nr_slots || !slot->rq || slot->rq->slot != number)
		return &nowhere;
	rq = slot->rq;
	if (slot->pending) {
		memcpy(rq, &apart.line.reply.rq, REQUEST_HOST_BYTES);
		rq->reason = apart.line.reply.rq.reason;
		slot->pending = false;
	}
	return rq;
}

static struct io_request *apart_next(void *state, u64 now_ns, u64 *wake_ns)
{
	apart_line_tell_tunables(&apart.line, state, false);
	if (apart.scheduler.needs_model)
		tell_positions(now_ns);
	call(LINE_NEXT)->now_ns = now_ns;
	ask(state);
	*wake_ns = apart.line.reply.wake_ns;
	return chosen();
}

static struct io_request *apart_more(void *state, const struct io_request *first,
				     u64 now_ns)
{
	struct line_call *made = call(LINE_MORE);

	made->slot = first->slot;
	made->now_ns = now_ns;
	ask(state);
	return chosen();
}

static void apart_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct line_call *made = call(LINE_COMPLETED);

	made->slot = rq->slot;
	made->now_ns = now_ns;
	made->value = rq->joined;
	slot_give(rq->slot);
}

/* The host calls this right after next or more, whose reply includes the result of has_work. */
static bool apart_has_work(const void *state)
{
	return apart.line.reply.has_work;
}

const struct scheduler *apart_scheduler(struct apart_pipes pipes, struct apart_end end,
					char *words, s32 *error)
{
	struct apart_line *line = &apart.line;
	const struct line_self *self = &line->self;

	apart_line_open(line, PART_SCHEDULER, pipes, end);
	apart.scheduler = (struct scheduler){
		.name = self->name,
		.summary = self->summary,
		.state_size = sizeof(struct fields),
		.tunables = line->tunables,
		.nr_tunables = self->nr_tunables,
		.counters = line->counters,
		.nr_counters = self->nr_counters,
		.depth = self->depth,
		.needs_model = self->needs_model,
		.init = apart_init,
		.exit = apart_exit,
		.grown = apart_grown,
		.add = apart_add,
		.remove = apart_remove,
		.next = apart_next,
		.more = self->has_more ? apart_more : NULL,
		.completed = apart_completed,
		.has_work = apart_has_work,
	};
	*error = self->error;
	if (self->error)
		snprintf(words, CONTRACT_TEXT, "%s", self->words);
	else if (!contract_check_declaration(&apart.scheduler, words))
		*error = -EPROTO;
	return *error ? NULL : &apart.scheduler;
}
