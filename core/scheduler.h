/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a disk scheduler implements: a few operations on its own state, in one file
 * under schedulers/. schedulers/fcfs.c is the template to copy.
 *
 * The host holds its own lock during every operation, never calls two operations at a time for one
 * disk, and passes the current time as an argument. No operation sleeps, reads a clock or knows
 * whether it runs in a kernel or in a simulator. The host asks for the next request only when the
 * device is free to start it, so every choice is made from the current queue.
 *
 * The rules in this file bind both host and scheduler; contract.h enforces the scheduler's rules.
 */
#ifndef UNDERSTUDY_SCHEDULER_H
#define UNDERSTUDY_SCHEDULER_H

#include "field.h"
#include "request.h"

/**
 * struct sched_limits - what a scheduler may know when its init is called
 * @capacity_sectors: size of the disk in sectors of 512 bytes; 0 if it is not known yet. The host
 *	calls @grown with later sizes. No request extends beyond the latest size
 * @max_requests: most requests that are ever pending at once
 * @depth: most requests that the host has in service at once; 0 stands for one
 * @positioning_ns: returns how long a pending request would wait until its first sector is under
 *	the head, if the disk began this request now or as soon as the disk is free
 *	(core/drive/plan.h). Only @next may call this function. NULL unless the scheduler sets
 *	@needs_model
 * @device: first argument of @positioning_ns
 */
struct sched_limits {
	u64 capacity_sectors;
	u32 max_requests;
	u32 depth;
	u64 (*positioning_ns)(void *device, const struct io_request *rq, u64 now_ns);
	void *device;
};

/**
 * struct scheduler - a disk scheduler
 * @name: the name by which people choose it, of a-z, 0-9, - and _; the names of all schedulers
 *	differ, and none begins with "none", which stands for no scheduler
 * @summary: one line for people
 * @state_size: size of the state in bytes; before @init, the host allocates it, zeroed, and writes
 *	the tunables' initial values into it
 * @tunables: values that the host may change between any two calls
 * @nr_tunables: number of tunables
 * @counters: values that the host only reads
 * @nr_counters: number of counters
 * @depth: most requests that the scheduler wants in service at once; 0 stands for one, which suits
 *	every scheduler that assumes a single head
 * @needs_model: the scheduler uses positioning times; a host without a model of its disk (a real
 *	disk, an array) refuses it
 * @init: prepare the state; returns 0 or a negative errno. May be NULL.
 * @exit: free what @init allocated. May be NULL.
 * @grown: the disk has grown to this many sectors. May be NULL.
 * @add: add a request, which is pending from now on
 * @remove: take a pending request back (the host merged it into another one, or is about to
 *	change its extent and will add it again)
 * @next: choose the request to serve now; it is no longer pending. NULL means: no request until the
 *	time *wake_ns, unless another call changes the choice earlier. Before the call, the host
 *	sets *wake_ns to 0, which means never; the scheduler may set it to a time after now_ns. If
 *	requests are pending and none is in service, @next must choose a request or set a time.
 *	@next must not delay all pending requests for longer than CONTRACT_HOLD_NS plus twice the
 *	sum of the scheduler's tunables that are times.
 * @more: join another request of the same owner to the request that was just chosen. If @next would
 *	now choose another request of that owner, return that request, otherwise NULL. The returned
 *	request is no longer pending. The host serves the chosen and the joined requests together
 *	and calls @completed for each of them, but they count as one request in service. The host
 *	marks all but the first as joined. May be NULL: no requests are joined.
 * @completed: this request, which @next or @more returned, was served. May be NULL.
 * @has_work: return whether any request is pending, even one that @next would not return now.
 */
struct scheduler {
	const char *name;
	const char *summary;
	size_t state_size;
	const struct sched_field *tunables;
	u32 nr_tunables;
	const struct sched_field *counters;
	u32 nr_counters;
	u32 depth;
	bool needs_model;

	int (*init)(void *state, const struct sched_limits *limits);
	void (*exit)(void *state);
	void (*grown)(void *state, u64 capacity_sectors);
	void (*add)(void *state, struct io_request *rq, u64 now_ns);
	void (*remove)(void *state, struct io_request *rq);
	struct io_request *(*next)(void *state, u64 now_ns, u64 *wake_ns);
	struct io_request *(*more)(void *state, const struct io_request *chosen,
				   u64 now_ns);
	void (*completed)(void *state, const struct io_request *rq, u64 now_ns);
	bool (*has_work)(const void *state);
};

/*
 * Register a scheduler. A kernel module, or a library that the simulator loads, registers exactly
 * one scheduler. A program that links several schedulers, as the tests do, defines
 * SCHEDULERS_IN_A_LIST. sim/registry.py writes this list when the program is built, so there is no
 * list to edit.
 */
#ifdef SCHEDULERS_IN_A_LIST
#define REGISTER_SCHEDULER(s)                       \
	const struct scheduler *const scheduler_##s \
		__attribute__((visibility("hidden"))) = &(s)
#else
extern const struct scheduler *const module_scheduler;
#define REGISTER_SCHEDULER(s)                          \
	const struct scheduler *const module_scheduler \
		__attribute__((visibility("default"))) = &(s)
#endif

static inline u32 sched_depth(const struct scheduler *scheduler)
{
	return scheduler->depth ?: 1;
}

#endif
