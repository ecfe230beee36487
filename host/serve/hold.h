/* SPDX-License-Identifier: MIT */
/*
 * Holds each request until its due time on CLOCK_MONOTONIC, and records the lateness of each
 * answer. A request's service takes k times the model's service time. Any number of threads may
 * each hold one request.
 */
#ifndef UNDERSTUDY_SERVE_HOLD_H
#define UNDERSTUDY_SERVE_HOLD_H

#include <pthread.h>

#include "timed_disk.h"

/* One request, from its arrival to its answer. The caller sets only `command`. */
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
 * Must be called first. disk: the disk, which is checked. records: descriptor of a file for
 * records, open for appending, or -1. Returns 0, -EINVAL or -ENOMEM. Sets exact timers for the
 * calling thread and the threads that it creates.
 */
int hold_init(struct timed_disk *disk, int records);

/* The request arrives now. */
void hold_arrived(struct held *held);

/*
 * To be called when the request's data has been transferred, or has failed with `error`. Returns at
 * the request's due time.
 */
void hold_until_due(struct held *held, int error);

#endif
