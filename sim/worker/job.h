/* SPDX-License-Identifier: MIT */
/*
 * A job that a process does with a scheduler and with policies of a page cache, and its results. Both are in memory shared with
 * the starter of the process (understudy_devices/native/worker.py).
 *
 * In the starter this memory has another address, so job_unpack() adjusts every pointer into the
 * memory.
 */
#ifndef UNDERSTUDY_JOB_H
#define UNDERSTUDY_JOB_H

#include "../engine.h"
#include "../replay.h"
#include "fault.h"

#define JOB_NAME_BYTES 32
#define JOB_TEXT_BYTES 65536

enum job_kind {
	JOB_DESCRIBE, /* describe the only part */
	JOB_SIMULATE,
	JOB_REPLAY,
};

/**
 * struct job - one job
 * @kind: enum job_kind
 * @starter: id of the process that waits for the results; this process ends when the starter ends
 * @address: address of this structure in the starter
 * @workload: name of the workload to simulate
 * @has_target: does the starter compute the requests' completion times (target.h)?
 * @paths: paths of files with the arrivals of each process (arrivals_file.h), or NULL
 * @memory_bytes: most memory that the process may use in addition to the job
 * @output_bytes: longest output of the process
 * @declared: what each part declared when it was described (describe_digest), or 0. JOB_DESCRIBE sets
 *	it; any other job ends if the part declares something else
 * @ended: did the job end normally? Then @error and the members after it are the results
 * @error: 0, or the negative errno of sim_run or replay_run. If the scheduler cannot be loaded,
 *	@error is -ENOEXEC, @fault has the part, and @text contains the reason
 * @refused_bytes: size of the last memory allocation that was refused, or 0
 * @fault: the part that ended this process or cannot be loaded, and its code that a signal hit
 * @text: the description (describe.h), or a message
 */
struct job {
	u32 kind;
	s32 starter;
	u64 address;
	char workload[JOB_NAME_BYTES];
	u32 has_target;
	const char *paths;
	u64 memory_bytes;
	u64 output_bytes;
	u64 declared[PARTS];

	u32 ended;
	s32 error;
	u64 refused_bytes;
	struct fault fault;
	struct sim_watch watch;

	struct sim_input input;
	struct sim_columns columns;
	struct drive drive;
	struct sim_summary summary;
	struct replay replay;
	char text[JOB_TEXT_BYTES];
};

/* The parts that users may write; NULL if the job has none. */
struct parts {
	const struct scheduler *scheduler;
	const struct prefetcher *prefetcher;
	const struct replacer *replacer;
};

/* Adjust the job's pointers, and set the pointers that only this process knows. */
void job_unpack(struct job *job, const struct parts *parts);

#endif
