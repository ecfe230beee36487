// SPDX-License-Identifier: MIT
/* Threads that take turns. Of those that can run, the one with the lowest number does. */
#include <stdlib.h>
#include <ucontext.h>

#include "os.h"

#define STACK_BYTES (64 * 1024)

struct thread {
	ucontext_t context;
	void (*run)(u32 number);
	u32 number;
	bool has_ended;
	struct thread *after; /* in the queue of those that can run */
};

static ucontext_t scheduler;
static struct thread *current;
static struct thread *ready; /* in order of their numbers */
static u32 alive;

static void trampoline(void)
{
	current->run(current->number);
	current->has_ended = true;
}

void thread_start(void (*run)(u32 number), u32 number)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	char *stack = malloc(STACK_BYTES);

	if (!thread || !stack || alive++ == THREADS_MAX)
		panic("no room for another thread");
	thread->run = run;
	thread->number = number;
	getcontext(&thread->context);
	thread->context.uc_stack.ss_sp = stack;
	thread->context.uc_stack.ss_size = STACK_BYTES;
	thread->context.uc_link = &scheduler;
	makecontext(&thread->context, trampoline, 0);
	thread_wake(thread);
}

struct thread *thread_current(void)
{
	return current;
}

u32 thread_number(const struct thread *thread)
{
	return thread->number;
}

void thread_wait(void)
{
	swapcontext(&current->context, &scheduler);
}

void thread_wake(struct thread *thread)
{
	struct thread **link = &ready;

	while (*link && (*link)->number <= thread->number)
		link = &(*link)->after;
	thread->after = *link;
	*link = thread;
}

static void run_ready(void)
{
	while (ready) {
		current = ready;
		ready = current->after;
		swapcontext(&scheduler, &current->context);
		if (!current->has_ended)
			continue;
		alive--;
		free(current->context.uc_stack.ss_sp);
		free(current);
	}
}

void threads_run(void)
{
	do {
		run_ready();
	} while (disk_turn());
	if (alive)
		panic("%u threads wait for ever", alive);
}
