// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "serve.h"

#define CALLS_AT_ONCE 64
#define PAGE 4096u
#define GUARD (64 * PAGE)

static struct {
	int calls_file;
	int replies_file;
	struct declaration declaration;
} here;

struct line_reply serve_reply;
void *serve_state;

void serve_say(void)
{
	serve_reply.number++;
	if (!line_write(here.replies_file, &serve_reply, sizeof(serve_reply)))
		_exit(0); /* the other end of the pipe is closed */
}

/*
 * Report the signal. This runs in the signal's handler. The handler exits instead of raising the
 * signal again, since process 1 of a PID namespace can't end itself by a signal.
 */
static void say_fault(void)
{
	serve_reply.kind = LINE_FAULT;
	serve_say();
	_exit(SIGNALLED + serve_reply.fault.signal);
}

void serve_begin(int calls, int replies, u32 part, const char *code)
{
	struct pollfd end = { .fd = calls };

	if (poll(&end, 1, 0) > 0 && end.revents & POLLHUP)
		_exit(EXIT_ALONE); /* the starter ended before confine() */
	here.calls_file = calls;
	here.replies_file = replies;
	fault_watch(&serve_reply.fault, say_fault);
	fault_watch_file(part, code);
}

/* Memory blocks, each followed by inaccessible pages. */

struct block {
	char *map;
	size_t bytes;
};

static struct block *block_of(void *memory)
{
	return (struct block *)memory - 1;
}

/* The header is before the block. The block ends less than 8 bytes before the inaccessible pages. */
void *serve_zalloc(size_t bytes)
{
	size_t whole = (bytes + 7) & ~(size_t)7;
	size_t pages = (whole + sizeof(struct block) + PAGE - 1) / PAGE * PAGE;
	char *map, *memory;

	map = whole < bytes ? MAP_FAILED
			    : mmap(NULL, pages + GUARD, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map + pages, GUARD, PROT_NONE)) {
		serve_reply.refused_bytes = bytes;
		return NULL;
	}
	memory = map + pages - whole;
	*block_of(memory) = (struct block){ .map = map, .bytes = pages + GUARD };
	return memory;
}

void serve_free(void *memory)
{
	if (memory)
		munmap(block_of(memory)->map, block_of(memory)->bytes);
}

/* Reply to a call, with the values of the counters. */
static void answer(void)
{
	const struct declaration *declaration = &here.declaration;
	u32 i;

	for (i = 0; i < declaration->nr_counters; i++)
		serve_reply.counters[i] =
			*sched_field_value(serve_state, &declaration->counters[i]);
	serve_say();
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

void serve_introduce(struct line_self *self, const struct declaration *declaration)
{
	here.declaration = *declaration;
	serve_copy(self->name, sizeof(self->name), declaration->name);
	serve_copy(self->summary, sizeof(self->summary), declaration->summary);
	self->nr_tunables = declaration->nr_tunables;
	self->nr_counters = declaration->nr_counters;
	serve_copy_fields(self->tunables, declaration->tunables,
			  declaration->nr_tunables);
	serve_copy_fields(self->counters, declaration->counters,
			  declaration->nr_counters);
}

void serve_self(const struct line_self *self)
{
	serve_say();
	if (!line_write(here.replies_file, self, sizeof(*self)))
		_exit(0);
}

void serve(struct line_self *self, bool (*carry_out)(const struct line_call *call))
{
	const struct declaration *declaration = &here.declaration;
	struct line_call call;

	if (!self->error)
		serve_state = serve_zalloc(declaration->state_size);
	if (!self->error && !serve_state) {
		self->error = -ENOMEM;
		serve_copy(self->words, sizeof(self->words),
			   "its state needs more memory than it may have");
	}
	serve_self(self);
	while (serve_state && next_call(&call)) {
		if (call.kind == LINE_TUNED)
			*sched_field_value(serve_state,
					   &declaration->tunables[call.slot]) =
				call.value;
		else if (carry_out(&call))
			answer();
	}
}
