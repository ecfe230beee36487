// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "serve.h"

#define CALLS_AT_ONCE 64
#define PAGE 4096u
#define LOOK_US 500000
#define SIGNALLED 128 /* exit status minus the signal's number, as in a shell */

static struct {
	int calls_file;
	int replies_file;
	struct line_reply reply;
	const struct scheduler *scheduler;
	void *state;
	struct io_request *requests; /* by slot */
	u64 *position_ns; /* positioning times by slot, valid at asked_ns */
	u64 asked_ns;
	u32 slots;
} here;

static void say(void)
{
	if (!line_write(here.replies_file, &here.reply, sizeof(here.reply)))
		_exit(0); /* the other end of the pipe is closed */
}

/*
 * Report the signal. This runs in the signal's handler. The handler exits instead of raising the
 * signal again, since process 1 of a PID namespace can't end itself by a signal.
 */
static void say_fault(void)
{
	here.reply.kind = LINE_FAULT;
	say();
	_exit(SIGNALLED + here.reply.fault.signal);
}

/*
 * End this process if its starter has ended, that is, if the other end of the pipe is closed. The
 * signal of PR_SET_PDEATHSIG is not enough: it is not sent if the starter is killed before the
 * sandbox has requested the signal.
 */
static void end_if_alone(int signal)
{
	struct pollfd line = { .fd = here.calls_file };

	if (poll(&line, 1, 0) && line.revents & POLLHUP)
		_exit(0);
}

void serve_begin(int calls, int replies, const char *code)
{
	struct itimerval now_and_then = { { 0, LOOK_US }, { 0, LOOK_US } };
	struct sigaction action = { .sa_handler = end_if_alone,
				    .sa_flags = SA_RESTART | SA_ONSTACK };

	here.calls_file = calls;
	here.replies_file = replies;
	fault_watch(&here.reply.fault, code, say_fault);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &now_and_then, NULL);
}

/* Memory blocks, each followed by an inaccessible page. */

struct block {
	char *map;
	size_t bytes;
};

static struct block *block_of(void *memory)
{
	return (struct block *)memory - 1;
}

/* The header is before the block. The block ends less than 8 bytes before the inaccessible page. */
void *serve_zalloc(size_t bytes)
{
	size_t whole = (bytes + 7) & ~(size_t)7;
	size_t pages = (whole + sizeof(struct block) + PAGE - 1) / PAGE * PAGE;
	char *map, *memory;

	map = whole < bytes ? MAP_FAILED
			    : mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map + pages, PAGE, PROT_NONE)) {
		here.reply.refused_bytes = bytes;
		return NULL;
	}
	memory = map + pages - whole;
	*block_of(memory) = (struct block){ .map = map, .bytes = pages + PAGE };
	return memory;
}

void serve_free(void *memory)
{
	if (memory)
		munmap(block_of(memory)->map, block_of(memory)->bytes);
}

/* Calls. */

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
	return here.scheduler->init ? here.scheduler->init(here.state, &limits) : 0;
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

	here.reply.slot = LINE_NO_SLOT;
	if (!rq)
		return;
	here.reply.slot = LINE_NO_SLOT - 1;
	if (slot >= here.slots || slot * sizeof(*rq) != offset)
		return;
	here.reply.slot = slot;
	here.reply.rq = *rq;
}

static void answer(void)
{
	const struct scheduler *scheduler = here.scheduler;
	u32 i;

	for (i = 0; i < scheduler->nr_counters; i++)
		here.reply.counters[i] =
			*sched_field_value(here.state, &scheduler->counters[i]);
	here.reply.has_work = scheduler->has_work(here.state);
	say();
}

static void carry_out(const struct line_call *call)
{
	const struct scheduler *scheduler = here.scheduler;
	struct io_request *rq = &here.requests[call->slot];

	switch ((enum line_kind)call->kind) {
	case LINE_TUNED:
		*sched_field_value(here.state, &scheduler->tunables[call->slot]) =
			call->value;
		return;
	case LINE_INIT:
		here.reply.error = make_room(call->slot) ?: init(call);
		say();
		return;
	case LINE_GROWN:
		if (scheduler->grown)
			scheduler->grown(here.state, call->value);
		return;
	case LINE_ADD:
		*rq = (struct io_request){ 0 };
		memcpy(rq, &call->rq, REQUEST_HOST_BYTES);
		scheduler->add(here.state, rq, call->now_ns);
		return;
	case LINE_REMOVE:
		scheduler->remove(here.state, rq);
		return;
	case LINE_POSITION:
		here.position_ns[call->slot] = call->value;
		return;
	case LINE_NEXT:
		here.asked_ns = call->now_ns;
		here.reply.wake_ns = 0;
		answer_with(
			scheduler->next(here.state, call->now_ns, &here.reply.wake_ns));
		answer();
		return;
	case LINE_MORE:
		answer_with(scheduler->more(here.state, rq, call->now_ns));
		answer();
		return;
	case LINE_COMPLETED:
		rq->joined = call->value;
		if (scheduler->completed)
			scheduler->completed(here.state, rq, call->now_ns);
		return;
	case LINE_EXIT:
		if (scheduler->exit)
			scheduler->exit(here.state);
		say();
		return;
	}
}

/* Receive the next call of the simulation; false when there are no more. */
static bool next_call(struct line_call *call)
{
	static char bytes[CALLS_AT_ONCE * sizeof(*call)];
	static size_t first, last;
	ssize_t got;

	while (last - first < sizeof(*call)) {
		memmove(bytes, bytes + first, last - first);
		last -= first;
		first = 0;
		got = read(here.calls_file, bytes + last, sizeof(bytes) - last);
		if (got <= 0)
			return false;
		last += got;
	}
	memcpy(call, bytes + first, sizeof(*call));
	first += sizeof(*call);
	return true;
}

/* The declaration. */

void serve_copy(char *to, size_t bytes, const char *text)
{
	snprintf(to, bytes, "%s", text ? text : "");
}

void serve_copy_fields(struct line_field *to, const struct sched_field *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		serve_copy(to[i].name, sizeof(to[i].name), from[i].name);
		serve_copy(to[i].help, sizeof(to[i].help), from[i].help);
		to[i].initial = from[i].initial;
		to[i].min = from[i].min;
		to[i].max = from[i].max;
	}
}

static void introduce(struct line_self *self, const struct scheduler *scheduler)
{
	serve_copy(self->name, sizeof(self->name), scheduler->name);
	serve_copy(self->summary, sizeof(self->summary), scheduler->summary);
	self->depth = scheduler->depth;
	self->needs_model = scheduler->needs_model;
	self->has_more = scheduler->more != NULL;
	self->nr_tunables = scheduler->nr_tunables;
	self->nr_counters = scheduler->nr_counters;
	serve_copy_fields(self->tunables, scheduler->tunables, scheduler->nr_tunables);
	serve_copy_fields(self->counters, scheduler->counters, scheduler->nr_counters);
}

void serve_self(const struct line_self *self)
{
	say();
	if (!line_write(here.replies_file, self, sizeof(*self)))
		_exit(0);
}

void serve(const struct scheduler *scheduler, s32 error, const char *words)
{
	static struct line_self self;
	struct line_call call;

	self.error = error;
	serve_copy(self.words, sizeof(self.words), words);
	here.scheduler = scheduler;
	if (scheduler) {
		introduce(&self, scheduler);
		here.state = serve_zalloc(scheduler->state_size);
	}
	serve_self(&self);
	while (here.state && next_call(&call))
		carry_out(&call);
}
