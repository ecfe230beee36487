/* SPDX-License-Identifier: MIT */
/*
 * The interface of a simulated workload: a function that returns the next step of each of its
 * processes. Each workload is one file under workloads/; workloads/random.c is a short example.
 *
 * A workload does not know the time or when requests complete; the engine calls it for one step
 * after the other. So the steps of a process do not depend on how its requests are scheduled.
 */
#ifndef UNDERSTUDY_WORKLOAD_H
#define UNDERSTUDY_WORKLOAD_H

#include "../core/scheduler.h"
#include "arrivals.h"
#include "layout.h"
#include "service_times.h"

#define NO_FILE U32_MAX

/**
 * struct step - think, then issue a request
 * @think_ns: time that the process thinks before the request, counted from the completion of its
 *	previous request or, in an open workload, from the arrival of its previous request
 * @file: the file, or NO_FILE for a request to the disk itself
 * @sector: first sector, of the file or of the disk
 * @sectors: number of sectors, at least 1
 * @owner: owner of the request
 * @op: enum io_op; files are only read
 * @cost_ns: service time on an array; 0: the array samples it at random
 * @more: in an open workload: number of following steps that are further pieces of the same
 *	request; all its pieces arrive at the same time
 * @waited_ns: how long the request had waited before it arrived; counts in the response times of
 *	its process's figures, and nowhere else
 */
struct step {
	u64 think_ns;
	u64 sector;
	u64 cost_ns;
	u64 waited_ns;
	u32 file;
	u32 sectors;
	u32 owner;
	u32 more;
	u8 op;
};

/**
 * struct rows - a table of steps, for the workloads in workloads/rows.c; every array is in the
 * caller's memory
 * @first: process i plays the rows from first[i] to first[i + 1] - 1
 * @think_ns: see struct step, also for the other columns
 * @sector: first sector on the disk
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
 * struct world - what a workload may know; it outlives the workload
 * @capacity_sectors: size of the disk
 * @seed: process i uses random stream i of this seed
 * @processes: number of processes
 * @layout: the files; none if there is no file system
 * @rows: a table of steps, or all pointers NULL
 * @arrivals: arrivals of each process, or NULL
 * @service: service times of each process, or all pointers NULL
 * @resampling: how each process takes requests from @arrivals; NULL: as recorded
 * @until_ns: no request of @arrivals arrives from this time on
 */
struct world {
	u64 capacity_sectors;
	u64 seed;
	u32 processes;
	struct layout layout;
	struct rows rows;
	const struct arrivals *arrivals;
	const struct resampling *resampling;
	struct service_times service;
	u64 until_ns;
};

/**
 * struct workload - the behaviour of processes
 * @name: the name by which people choose it
 * @summary: one line for people
 * @open: steps do not wait for the completion of the previous request
 * @state_size: bytes of state; the engine allocates it, zeroed, and stores the parameters' values
 *	in it
 * @parameters: like a scheduler's tunables, but constant during a run
 * @nr_parameters: number of parameters
 * @init: prepare the state; returns 0 or a negative errno
 * @exit: free what @init allocated; also called if @init failed
 * @step: fill in the next step of a process; returns false when the process has no more steps
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

/*
 * Register the workload, on a line of its own: with the program into which it is linked
 * (registry.py), or, in a user's file, with the program that loads the file.
 */
#ifdef WORKLOAD_ALONE
extern const struct workload *const module_workload;
#define REGISTER_WORKLOAD(w)                         \
	const struct workload *const module_workload \
		__attribute__((visibility("default"))) = &(w)
#else
#define REGISTER_WORKLOAD(w)                      \
	const struct workload *const workload_##w \
		__attribute__((visibility("hidden"))) = &(w)
#endif

#endif
