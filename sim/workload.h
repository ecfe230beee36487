/* SPDX-License-Identifier: MIT */
/*
 * The interface that a simulated workload implements: what each of its processes does
 * next, in one file under workloads/.  workloads/random.c is the short example.
 *
 * A workload knows neither time nor answers: it is asked for one step after the other,
 * so that what a process wants does not depend on how it is scheduled.
 */
#ifndef UNDERSTUDY_WORKLOAD_H
#define UNDERSTUDY_WORKLOAD_H

#include "../core/scheduler.h"
#include "arrivals.h"
#include "layout.h"
#include "service_times.h"

#define NO_FILE U32_MAX

/**
 * struct step - think, then ask
 * @think_ns: how long before it asks: after the answer to its last step, or, in an
 *	open workload, after its last step
 * @file: which file, or NO_FILE for a place on the disk
 * @sector: first sector, of the file or of the disk
 * @sectors: how many, at least 1
 * @owner: who asks
 * @op: enum io_op; files are only read
 * @cost_ns: service time on an array; 0 lets the array draw it
 * @more: in an open workload: so many of the steps that follow ask for further pieces
 *	of the same request, at the same instant
 */
struct step {
	u64 think_ns;
	u64 sector;
	u64 cost_ns;
	u32 file;
	u32 sectors;
	u32 owner;
	u32 more;
	u8 op;
};

/**
 * struct rows - steps as a table, for the workloads that play one; every array is
 * the caller's
 * @first: process i plays the rows first[i] up to first[i + 1]
 * @think_ns: see struct step, as the others
 * @sector: on the disk
 */
struct rows {
	const u64 *first;
	const u64 *think_ns;
	const u64 *sector;
	const u64 *cost_ns;
	const u32 *sectors;
	const u32 *owner;
	const u8 *op;
};

/**
 * struct world - what a workload may know of the world; it outlives the workload
 * @capacity_sectors: size of the disk
 * @seed: process i draws from stream i of it
 * @processes: how many
 * @layout: the files; none if there is no file system
 * @rows: a table, or all NULL
 * @arrivals: of each process, or NULL
 * @service: service times of each process, or all NULL
 * @until_ns: of @arrivals, those before it
 */
struct world {
	u64 capacity_sectors;
	u64 seed;
	u32 processes;
	struct layout layout;
	struct rows rows;
	const struct arrivals *arrivals;
	struct service_times service;
	u64 until_ns;
};

/**
 * struct workload - what processes do
 * @name: what people type to choose it
 * @summary: one line for people
 * @open: steps do not wait for the answer to the step before
 * @state_size: bytes of state, zeroed, with the parameters' values in it
 * @parameters: as a scheduler's tunables, but fixed for the run
 * @nr_parameters: how many
 * @init: 0 or a negative errno
 * @exit: give back what @init took; also called if it failed
 * @step: fill in the next step of a process; false when it has none left
 */
struct workload {
	const char *name;
	const char *summary;
	bool open;
	size_t state_size;
	const struct sched_field *parameters;
	u32 nr_parameters;

	int (*init)(void *state, const struct world *world);
	void (*exit)(void *state);
	bool (*step)(void *state, u32 process, struct step *step);
};

/* Make it known to the program that links it; or, in a file of somebody's own, to who loads it. */
#ifdef WORKLOAD_ALONE
extern const struct workload *const module_workload;
#define REGISTER_WORKLOAD(w)                         \
	const struct workload *const module_workload \
		__attribute__((visibility("default"))) = &(w)
#else
#define REGISTER_WORKLOAD(w)                          \
	static const struct workload *const w##_entry \
		__attribute__((used, section("workloads"))) = &(w)
#endif

#endif
