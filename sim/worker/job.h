/* SPDX-License-Identifier: MIT */
/*
 * What a process is to do with a scheduler, and what comes out, in one piece of memory
 * that it shares with whoever started it (understudy/native/worker.py).
 *
 * That lies at another address there, so job_unpack moves every pointer into it.
 */
#ifndef UNDERSTUDY_JOB_H
#define UNDERSTUDY_JOB_H

#include "../engine.h"
#include "../replay.h"
#include "fault.h"

#define JOB_NAME_BYTES 32
#define JOB_TEXT_BYTES 65536

enum job_kind {
	JOB_DESCRIBE, /* what the scheduler says of itself */
	JOB_SIMULATE,
	JOB_REPLAY,
};

/**
 * struct job - one of them
 * @kind: enum job_kind
 * @starter: process that waits for the answer: this one ends with it
 * @address: of this structure, as the starter sees it
 * @workload: name of the one to simulate
 * @has_target: the times of requests are asked of the starter (target.h)
 * @paths: of a file with the arrivals of each process (arrivals_file.h), or NULL
 * @memory_bytes: most that it may take besides the job
 * @output_bytes: most that it may print
 * @ended: it came to its end; @error and the rest are the answer
 * @error: 0, or the negative errno of sim_run or replay_run; -ENOEXEC if the scheduler
 *	cannot be loaded, and @text says why
 * @refused_bytes: the last piece of memory that it did not get, or 0
 * @fault: where a signal met it
 * @text: of a description; see describe.h
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

/* Move its pointers, and put in those that only this process knows. */
void job_unpack(struct job *job, const struct scheduler *scheduler);

#endif
