/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a disk scheduler implements: a few operations on its own state, in one file
 * under schedulers/. schedulers/fcfs.c is the template to copy.
 *
 * The host calls every operation with its own lock held, never two at a time for one disk, and
 * passes the time in. No operation sleeps, reads a clock or knows whether it runs in a kernel or in
 * a simulator. The host asks for the next request only when the device is free to start it, so
 * every choice is made from the current queue.
 *
 * The rules in this file bind both sides; contract.h enforces them.
 */
#ifndef UNDERSTUDY_SCHEDULER_H
#define UNDERSTUDY_SCHEDULER_H

#include "request.h"

/* Limits of the kernel: the longest name, and the most tunables or counters. */
#define SCHED_NAME_MAX 15
#define SCHED_FIELDS_MAX 16

/**
 * struct sched_limits - what a scheduler may know when it is set up
 * @capacity_sectors: size of the disk, sectors of 512 bytes; 0 if it is not known yet. The
 *	host calls @grown with later sizes. No request extends beyond the last known size
 * @max_requests: most requests that are ever pending at once
 * @depth: most requests that the host has in service at once; 0 stands for one
 * @positioning_ns: how long a pending request would wait until its first sector is under the
 *	head, if the disk began with it now or as soon as it is free (core/drive/plan.h). Only @next
 *	may call it. NULL unless the scheduler needs it
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
 * struct sched_field - one u64 in a scheduler's state that people may see
 * @name: the name in sysfs and on the command line, of a-z, 0-9 and _; names within a
 *	scheduler differ. Times end in _ns and are scaled with the disk in wall-clock runs
 * @help: one line for people
 * @offset: offset in the state
 * @initial: default value, from @min to @max (tunables only)
 * @min: smallest value that is accepted (tunables only)
 * @max: largest value that is accepted (tunables only)
 */
struct sched_field {
	const char *name;
	const char *help;
	size_t offset;
	u64 initial;
	u64 min;
	u64 max;
};

#define SCHED_TUNABLE(type, field, initial_, min_, max_, help_)                        \
	{                                                                              \
		.name = #field, .help = help_, .offset = offsetof(struct type, field), \
		.initial = initial_, .min = min_, .max = max_                          \
	}

#define SCHED_COUNTER(type, field, help_)                                             \
	{                                                                             \
		.name = #field, .help = help_, .offset = offsetof(struct type, field) \
	}

/**
 * struct scheduler - a disk scheduler
 * @name: the name by which people choose it, of a-z, 0-9, - and _; all names differ, and none
 *	begins with "none", which stands for no scheduler
 * @summary: one line for people
 * @state_size: bytes of state; the host allocates it, zeroed, and writes the tunables' initial
 *	values into it before @init
 * @tunables: values that the host may change between any two calls
 * @nr_tunables: number of tunables
 * @counters: values that the host only reads
 * @nr_counters: number of counters
 * @depth: most requests that it wants in service at once; 0 stands for one, which suits every
 *	scheduler that thinks of a single head
 * @needs_model: it uses positioning times; a host without a model of its disk (a real disk, an
 *	array) refuses such a scheduler
 * @init: prepare the state; 0 or a negative errno. May be NULL.
 * @exit: free what @init allocated. May be NULL.
 * @grown: the disk has this many sectors from now on, more than before. May be NULL.
 * @add: a request is pending from now on
 * @remove: take a pending request back (the host merged it into another one, or is about to
 *	change its extent and will add it again)
 * @next: choose the request to serve now; it is no longer pending. NULL means "none until
 *	*wake_ns, or until another call changes my mind". The host sets *wake_ns to 0, which stands
 *	for never; a scheduler may set it to a time after now_ns. If requests are pending and none
 *	is in service, @next must choose one or set a time. It must not hold all requests back for
 *	longer than CONTRACT_HOLD_NS plus twice the sum of its tunables that are times.
 * @more: called right after a request was chosen: return another request of the same owner,
 *	for the host to serve together with the chosen one, if @next would choose it now given room
 *	in service; else NULL. The request is no longer pending. The host calls @completed for each
 *	of the requests, but only the first one takes a place in service. The host marks the others
 *	as joined. May be NULL: nothing is joined.
 * @completed: a request that @next or @more returned was served. May be NULL.
 * @has_work: is any request pending? True also for one that @next would not return now.
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
 * Register a scheduler: with its kernel module, or as the only one with the simulator that loads
 * it. A program that links several schedulers, as the tests do, defines SCHEDULERS_IN_A_LIST. It
 * finds them in a linker section, so nobody has to edit a list.
 */
#ifdef SCHEDULERS_IN_A_LIST
#define REGISTER_SCHEDULER(s)                          \
	static const struct scheduler *const s##_entry \
		__attribute__((used, section("schedulers"))) = &(s)
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

static inline u64 *sched_field_value(void *state, const struct sched_field *field)
{
	return (u64 *)((char *)state + field->offset);
}

#endif
