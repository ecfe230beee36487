/* SPDX-License-Identifier: MIT */
/*
 * Holds requests until they are due on CLOCK_MONOTONIC, which is after k times the model's time,
 * and records how late their answers are. There may be any number of threads, each holding one
 * request.
 */
#ifndef UNDERSTUDY_SERVE_HOLD_H
#define UNDERSTUDY_SERVE_HOLD_H

#include <pthread.h>

#include "timed_disk.h"

/* One request from its arrival to its answer; the caller sets only the command. */
struct held {
	struct command command;
	u64 id;
	u64 arrival_ns;
	u64 answer_ns;
	bool queued;
	bool late;
	pthread_cond_t begun;
};

/*
 * Must be called first. disk: the disk, which this function checks. records: descriptor of a file
 * for records, open for appending, or -1. Returns 0, -EINVAL or -ENOMEM. Sets exact timers for the
 * calling thread and the threads that it creates.
 */
int hold_init(struct timed_disk *disk, int records);

/* The request arrives now. */
void hold_arrived(struct held *held);

/* The request's data has been transferred, or failed with `error`; returns when it is due. */
void hold_until_due(struct held *held, int error);

#endif
