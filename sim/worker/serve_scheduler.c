// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "serve.h"

static struct {
	const struct scheduler *scheduler;
	struct io_request *requests; /* by slot */
	u64 *position_ns; /* positioning times by slot, valid at asked_ns */
	u64 asked_ns;
	u32 slots;
} here;

static u64 positioning_ns(void *device, const struct io_request *rq, u64 now_ns)
{
	u64 slot = rq - here.requests;

	if (slot < here.slots && now_ns == here.asked_ns)
		return here.position_ns[slot];
	printf("positioning_ns takes a pending request and the now_ns of next\n");
	abort();
}

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int init(const struct line_call *call)
{
	struct sched_limits limits = call->limits;

	if (here.scheduler->needs_model)
		limits.positioning_ns = positioning_ns;
	return here.scheduler->init ? here.scheduler->init(serve_state, &limits) : 0;
}

/* Map memory for this many requests; only pages that are touched use memory. */
static int make_room(u32 slots)
{
	here.slots = slots;
	here.requests = reserve(slots * sizeof(*here.requests));
	here.position_ns = reserve(slots * sizeof(*here.position_ns));
	return here.requests && here.position_ns ? 0 : -ENOMEM;
}

static void answer_with(const struct io_request *rq)
{
	u64 offset = (char *)rq - (char *)here.requests;
	u64 slot = offset / sizeof(*rq);

	serve_reply.slot = LINE_NO_SLOT;
	if (!rq)
		return;
	serve_reply.slot = LINE_NO_SLOT - 1;
	if (slot >= here.slots || slot * sizeof(*rq) != offset)
		return;
	serve_reply.slot = slot;
	serve_reply.rq = *rq;
}

/* Carry out a call; return whether the simulation waits for a reply. */
static bool carry_out(const struct line_call *call)
{
	const struct scheduler *scheduler = here.scheduler;
	struct io_request *rq = &here.requests[call->slot];

	switch ((enum line_kind)call->kind) {
	case LINE_INIT:
		serve_reply.error = make_room(call->slot) ?: init(call);
		return true;
	case LINE_GROWN:
		if (scheduler->grown)
			scheduler->grown(serve_state, call->value);
		return false;
	case LINE_ADD:
		*rq = (struct io_request){ 0 };
		memcpy(rq, &call->rq, REQUEST_HOST_BYTES);
		scheduler->add(serve_state, rq, call->now_ns);
		return false;
	case LINE_REMOVE:
		scheduler->remove(serve_state, rq);
		return false;
	case LINE_POSITION:
		here.position_ns[call->slot] = call->value;
		return false;
	case LINE_NEXT:
		here.asked_ns = call->now_ns;
		serve_reply.wake_ns = 0;
		answer_with(scheduler->next(serve_state, call->now_ns,
					    &serve_reply.wake_ns));
		serve_reply.has_work = scheduler->has_work(serve_state);
		return true;
	case LINE_MORE:
		answer_with(scheduler->more(serve_state, rq, call->now_ns));
		serve_reply.has_work = scheduler->has_work(serve_state);
		return true;
	case LINE_COMPLETED:
		rq->joined = call->value;
		if (scheduler->completed)
			scheduler->completed(serve_state, rq, call->now_ns);
		return false;
	case LINE_EXIT:
		if (scheduler->exit)
			scheduler->exit(serve_state);
		return true;
	default:
		return false;
	}
}

void serve_scheduler(const struct scheduler *scheduler, struct line_self *self)
{
	here.scheduler = scheduler;
	if (scheduler) {
		serve_introduce(self, &DECLARATION(scheduler));
		self->depth = scheduler->depth;
		self->needs_model = scheduler->needs_model;
		self->has_more = scheduler->more != NULL;
	}
	serve(self, carry_out);
}
