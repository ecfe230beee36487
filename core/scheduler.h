/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a disk scheduler implements: a few operations on its own
 * state, in one file under schedulers/.  schedulers/fcfs.c is the template to
 * copy.
 *
 * The host calls every operation with its own lock held, never two at a time
 * for one disk, and passes the time in; nothing here sleeps, reads a clock or
 * knows whether it runs in a kernel or in a simulator.  The host asks for the
 * next request only when the device is free to start it, so a choice is never
 * made from an old queue.
 *
 * What is said here binds both sides; contract.h is how a host sees to it.
 */
#ifndef UNDERSTUDY_SCHEDULER_H
#define UNDERSTUDY_SCHEDULER_H

#include "request.h"

/* What a kernel has room for: the longest name, and most tunables or counters. */
#define SCHED_NAME_MAX 15
#define SCHED_FIELDS_MAX 16

/**
 * struct sched_limits - what a scheduler may know when it is set up
 * @capacity_sectors: size of the disk, sectors of 512 bytes; 0 if it is not known yet.
 *	@grown tells of more; no request lies beyond what was told last
 * @max_requests: most requests that are ever pending at once
 * @depth: most requests that the host has in service at once; 0 stands for one
 * @positioning_ns: what a request that is pending would wait until its first sector is under
 *	the head, if the disk began with it now or as soon as it is free (core/drive/plan.h).  To
 *	be called from @next.  NULL unless the scheduler needs it
 * @device: what that takes first
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
 * @name: as in sysfs and on the command line, of a-z, 0-9 and _, and only one of its
 *	scheduler's has it; times end in _ns and are scaled with the disk in wall-clock
 *	runs
 * @help: one line for people
 * @offset: where it is in the state
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
 * @name: what people type to choose it, of a-z, 0-9, - and _; no two have the same, and
 *	none begins with "none", which stands for no scheduler
 * @summary: one line for people
 * @state_size: bytes of state; the host allocates it, zeroed, and writes the
 *	tunables' initial values into it before @init
 * @tunables: may be changed by the host between any two calls
 * @nr_tunables: how many
 * @counters: only ever read by the host
 * @nr_counters: how many
 * @depth: most requests that it wants in service at once; 0 stands for one, which
 *	suits everybody who thinks of a single head
 * @needs_model: it asks for positioning times; a host that has no model of its disk (a real
 *	one, an array) refuses it
 * @init: prepare the state; 0 or a negative errno.  May be NULL.
 * @exit: give back what @init took.  May be NULL.
 * @grown: the disk has so many sectors from now on, more than before.  May be NULL.
 * @add: a request is pending from now on
 * @remove: take a pending request back (it was merged into another, or its
 *	extent is about to change and it will be added again)
 * @next: choose the request to serve now; it is pending no longer.  NULL means
 *	"none until *wake_ns, or until another call changes my mind".  The host sets
 *	*wake_ns to 0, for never; any other time is after now_ns.  Who is asked while
 *	requests are pending and none is in service chooses one or names a time, and
 *	does not hold them back for longer than CONTRACT_HOLD_NS and twice the sum of
 *	its tunables that are times.
 * @more: asked right after a request was chosen: another one of the same owner, for the host
 *	to serve with it as one, if it is the very one that @next would choose if there were
 *	room for it; NULL if there is none.  It is pending no longer, and @completed is called
 *	for each of them, but only the first one takes a place in service.  The host marks
 *	the others as joined.  May be NULL: nothing is joined.
 * @completed: a request that @next or @more returned was served.  May be NULL.
 * @has_work: is any request pending?  Also one that @next would not give now.
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
 * Make a scheduler known: to its kernel module, or to the simulator that loads it, as
 * the only one.  A program that links several of them, as the tests do, defines
 * SCHEDULERS_IN_A_LIST and finds them in a section, so that nobody edits a list.
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
