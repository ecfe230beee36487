/* SPDX-License-Identifier: MIT */
/*
 * Holds requests until they are due, on CLOCK_MONOTONIC, k times as long as the model says, and
 * counts how late that comes off.  Any number of threads hold one request each.
 */
#ifndef UNDERSTUDY_SERVE_HOLD_H
#define UNDERSTUDY_SERVE_HOLD_H

#include <pthread.h>

#include "timed_disk.h"

/* One request from its arrival to its answer; only the command is to be set. */
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
 * Before all else: the disk, which is checked here, and a file for records, open for
 * appending, or -1.  0, -EINVAL or -ENOMEM.  The timers of the calling thread, and of the
 * threads that it makes, become exact.
 */
int hold_init(struct timed_disk *disk, int records);

/* The request arrives, now. */
void hold_arrived(struct held *held);

/* Its data has moved, or could not; return when it is due. */
void hold_until_due(struct held *held, int error);

#endif
