/* SPDX-License-Identifier: MIT */
/*
 * The state of a simulation, for the three files of the engine: engine.c contains the clock and the
 * events, processes.c the processes, and requests.c their requests. A nonzero `error` ends the
 * simulation.
 */
#ifndef UNDERSTUDY_SIM_H
#define UNDERSTUDY_SIM_H

#include "elevator.h"
#include "engine.h"
#include "event_queue.h"
#include "page_cache.h"
#include "slots.h"
#include "whole.h"

#define TIME_MAX_NS (1ull << 63)

/*
 * Simulations that make no progress (see sim_run) are stopped by limits, here and in the three
 * files. Each limit is far above the needs of a sensible simulation, but a simulation without
 * progress reaches it within seconds. This limit is for steps that do not use the disk: 20,000 page
 * hits in a row by each process are a hit ratio of 99.995 %.
 */
#define EACH_PROCESS_MAX 20000

/* Order of events at the same time. */
enum event_kind {
	EVENT_COMPLETION, /* the request in pool entry id completes */
	EVENT_ASK, /* process `id` makes its next request */
	EVENT_RESUME, /* process `id` got the page that it waited for */
	EVENT_ENQUIRE, /* call next again: the gap is over, or the scheduler set this time */
};

/* The state of a process. */
struct process {
	struct step step;
	u32 outstanding; /* requests that the process waits for */
	u32 done; /* sectors of the step already read from the page cache */
	u32 whole; /* the split request that has further pieces to issue, or NO_SLOT */
};

struct sim {
	const struct sim_input *input;
	struct sim_summary *summary;
	const struct workload *workload;
	void *workload_state;
	struct event_queue events;
	struct elevator elevator;
	struct page_cache pages;
	struct draw bundle; /* generator of the sizes of bundles */
	struct process *process;
	struct pending *pool;
	struct slots slots; /* entries of the pool that are in use */
	struct wholes wholes; /* for the figures of each process, if wanted */
	u32 in_service;
	u64 now_ns;
	u64 ready_ns; /* no dispatch before this time */
	u64 idle_since_ns;
	u64 last_completion_ns;
	u64 wake_ns; /* time of the next scheduled call of next, or U64_MAX */
	bool settled; /* next returned no request, and nothing has changed since */
	u64 arrived;
	u64 target;
	u64 hits_in_a_row; /* page hits while the disk was idle */
	u64 refusals; /* calls of next without a request since its last request */
	int error;
	struct timed_device device; /* last: it is large */
};

/* Return the limit plus EACH_PROCESS_MAX for each process. */
static inline u64 with_processes(const struct sim *sim, u64 limit)
{
	return limit + (u64)EACH_PROCESS_MAX * sim->input->world.processes;
}

/* engine.c: schedule an event. */
void sim_schedule(struct sim *sim, u64 time_ns, enum event_kind kind, u32 id);

/*
 * processes.c: schedule a process's first or next step, report a completion to the process, make
 * its request, or let it continue after a wait for a page.
 */
void process_next_step(struct sim *sim, u32 i);
void process_answered(struct sim *sim, u32 i);
void process_ask(struct sim *sim, u32 i);
void process_resume(struct sim *sim, u32 i);

/*
 * Set up the page cache of the processes, if there is one. Returns 0, -ENOMEM or the error of a
 * policy's init.
 */
int processes_init_pages(struct sim *sim);

/* Free it, and tell the summary about its policies. */
void processes_exit_pages(struct sim *sim);

/*
 * requests.c: add a request that arrives now; return its bio, or NULL if there is no room for it.
 */
struct bio *requests_arrive(struct sim *sim, u32 process, u64 sector, u32 sectors);

/* Dispatch requests until the device is full or the scheduler hands out none. */
void requests_dispatch(struct sim *sim);

/* Complete the request in entry i of the pool. */
void requests_complete(struct sim *sim, u32 i);

#endif
