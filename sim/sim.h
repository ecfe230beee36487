/* SPDX-License-Identifier: MIT */
/*
 * A simulation at work, for the three files of the engine: engine.c has the clock and
 * the events, processes.c who asks, requests.c what becomes of what is asked.  Whatever
 * goes wrong is noted in `error`, which ends it.
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
 * What no simulation does that gets anywhere (see sim_run) has a limit, here and in the
 * three files.  Each is far above what a sensible one needs, and is reached within
 * seconds.  This one is for what processes may do for nothing: 20,000 hits in a row of
 * each are a hit ratio of 99.995 %.
 */
#define EACH_PROCESS_MAX 20000

/* At one instant, in this order. */
enum event_kind {
	EVENT_COMPLETION, /* of pool entry id */
	EVENT_ASK, /* process id asks */
	EVENT_RESUME, /* process id got the page that it waited for */
	EVENT_ENQUIRE, /* the scheduler may be asked: the gap is over, or it said so */
};

/* What a process is doing. */
struct process {
	struct step step;
	u32 outstanding; /* requests that it waits for */
	u32 done; /* sectors of the step that it has got from the page cache */
	u32 whole; /* the request of which it asks for further pieces, or NO_SLOT */
};

struct sim {
	const struct sim_input *input;
	struct sim_summary *summary;
	const struct workload *workload;
	void *workload_state;
	struct event_queue events;
	struct elevator elevator;
	struct page_cache pages;
	struct draw bundle; /* how many requests are next */
	struct process *process;
	struct pending *pool;
	struct slots slots; /* of the pool */
	struct wholes wholes; /* if there are figures of each process */
	u32 in_service;
	u64 now_ns;
	u64 ready_ns; /* no dispatch before */
	u64 idle_since_ns;
	u64 last_completion_ns;
	u64 wake_ns; /* the enquiry that is due next, or U64_MAX */
	bool settled; /* the scheduler said "none", and nothing changed since */
	u64 arrived;
	u64 target;
	u64 hits_in_a_row; /* in the page cache, while the disk was idle */
	u64 refusals; /* how often the scheduler said "none" since it gave something */
	int error;
	struct timed_device device; /* last: it is large */
};

/* A limit, and something for each process. */
static inline u64 with_processes(const struct sim *sim, u64 limit)
{
	return limit + (u64)EACH_PROCESS_MAX * sim->input->world.processes;
}

/* engine.c: something happens then. */
void sim_schedule(struct sim *sim, u64 time_ns, enum event_kind kind, u32 id);

/* processes.c: what one does next, once it is answered; and what it asks for, now. */
void process_next_step(struct sim *sim, u32 i);
void process_answered(struct sim *sim, u32 i);
void process_ask(struct sim *sim, u32 i);
void process_resume(struct sim *sim, u32 i);

/* 0 or -ENOMEM: the page cache that they read through, if there is one. */
int processes_init_pages(struct sim *sim);

/* requests.c: something is asked for; NULL if there is no room for it. */
struct bio *requests_arrive(struct sim *sim, u32 process, u64 sector, u32 sectors);

/* Fill the device, as far as the scheduler has something for it. */
void requests_dispatch(struct sim *sim);

/* Entry i of the pool was served. */
void requests_complete(struct sim *sim, u32 i);

#endif
