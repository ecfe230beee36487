// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"

#define EXIT_ALONE 122 /* the scheduler's process is gone */
#define CALLS_MAX 256

/* The state that the host allocates for the proxy: values of tunables and counters. */
struct fields {
	u64 tunables[SCHED_FIELDS_MAX];
	u64 counters[SCHED_FIELDS_MAX];
};

/* A request that the scheduler has or had. */
struct slot {
	struct io_request *rq;
	bool pending;
};

/* The proxy itself; this process has only one scheduler. */
static struct {
	int calls_file;
	int replies_file;
	struct apart_end end;
	struct line_self self;
	struct scheduler scheduler;
	struct sched_field tunables[SCHED_FIELDS_MAX];
	struct sched_field counters[SCHED_FIELDS_MAX];

	struct line_call calls[CALLS_MAX]; /* calls waiting to be sent */
	u32 nr_calls;
	struct line_reply reply; /* the last reply */
	u64 tuned[SCHED_FIELDS_MAX]; /* values last sent to the scheduler */

	struct sched_limits limits;
	struct slot *slots;
	u32 nr_slots;
	u32 *free; /* a ring: the slot freed longest ago is reused first */
	u32 first_free;
	u32 nr_free;
} apart;

/* Returned if the scheduler chose a request that was never added. */
static struct io_request nowhere;

static void __attribute__((noreturn)) alone(void)
{
	_exit(EXIT_ALONE);
}

static void send_calls(void)
{
	if (!line_write(apart.calls_file, apart.calls,
			apart.nr_calls * sizeof(*apart.calls)))
		alone();
	apart.nr_calls = 0;
}

static struct line_call *call(enum line_kind kind)
{
	struct line_call *made;

	if (apart.nr_calls == CALLS_MAX)
		send_calls();
	made = &apart.calls[apart.nr_calls++];
	made->kind = kind;
	return made;
}

static void hear(void)
{
	struct line_reply *reply = &apart.reply;

	if (!line_read(apart.replies_file, reply, sizeof(*reply)))
		alone();
	*apart.end.refused_bytes = reply->refused_bytes;
	if (reply->kind != LINE_DONE) {
		*apart.end.fault = reply->fault;
		alone();
	}
}

static void ask(struct fields *fields)
{
	send_calls();
	hear();
	memcpy(fields->counters, apart.reply.counters, sizeof(fields->counters));
}

static void tell_tunables(const struct fields *fields, bool first)
{
	struct line_call *made;
	u32 i;

	for (i = 0; i < apart.scheduler.nr_tunables; i++) {
		if (!first && fields->tunables[i] == apart.tuned[i])
			continue;
		made = call(LINE_TUNED);
		made->slot = i;
		made->value = apart.tuned[i] = fields->tunables[i];
	}
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
	tell_tunables(state, true);
	apart.limits = *limits;
	made = call(LINE_INIT);
	made->slot = most;
	made->limits = *limits;
	made->limits.positioning_ns = NULL;
	made->limits.device = NULL;
	ask(state);
	return apart.reply.error;
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
		alone();
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
	u32 number = apart.reply.slot;
	struct slot *slot = &apart.slots[number];
	struct io_request *rq;

	if (number == LINE_NO_SLOT)
		return NULL;
	if (number >= apart.nr_slots || !slot->rq || slot->rq->slot != number)
		return &nowhere;
	rq = slot->rq;
	if (slot->pending) {
		memcpy(rq, &apart.reply.rq, REQUEST_HOST_BYTES);
		rq->reason = apart.reply.rq.reason;
		slot->pending = false;
	}
	return rq;
}

static struct io_request *apart_next(void *state, u64 now_ns, u64 *wake_ns)
{
	tell_tunables(state, false);
	if (apart.scheduler.needs_model)
		tell_positions(now_ns);
	call(LINE_NEXT)->now_ns = now_ns;
	ask(state);
	*wake_ns = apart.reply.wake_ns;
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
	return apart.reply.has_work;
}

/* Setting up the connection. */

static void end_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
}

static void take_fields(struct sched_field *to, struct line_field *from, u32 count,
			size_t offset)
{
	u32 i;

	for (i = 0; i < count && i < SCHED_FIELDS_MAX; i++) {
		end_text(from[i].name, sizeof(from[i].name));
		end_text(from[i].help, sizeof(from[i].help));
		to[i] = (struct sched_field){
			.name = from[i].name,
			.help = from[i].help,
			.offset = offset + i * sizeof(u64),
			.initial = from[i].initial,
			.min = from[i].min,
			.max = from[i].max,
		};
	}
}

static void take_self(struct line_self *self)
{
	end_text(self->words, sizeof(self->words));
	end_text(self->name, sizeof(self->name));
	end_text(self->summary, sizeof(self->summary));
	take_fields(apart.tunables, self->tunables, self->nr_tunables,
		    offsetof(struct fields, tunables));
	take_fields(apart.counters, self->counters, self->nr_counters,
		    offsetof(struct fields, counters));
	apart.scheduler = (struct scheduler){
		.name = self->name,
		.summary = self->summary,
		.state_size = sizeof(struct fields),
		.tunables = apart.tunables,
		.nr_tunables = self->nr_tunables,
		.counters = apart.counters,
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
}

const struct scheduler *apart_open(int calls, int replies, struct apart_end end,
				   char words[CONTRACT_TEXT], s32 *error)
{
	struct line_self *self = &apart.self;

	apart.calls_file = calls;
	apart.replies_file = replies;
	apart.end = end;
	hear();
	if (!line_read(replies, self, sizeof(*self)))
		alone();
	take_self(self);
	*error = self->error;
	if (self->error)
		snprintf(words, CONTRACT_TEXT, "%s", self->words);
	else if (!contract_check_declaration(&apart.scheduler, words))
		*error = -EPROTO;
	return *error ? NULL : &apart.scheduler;
}
