/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Command queueing in the drive: requests that it has been given and has not begun with.
 * When it is free it takes, among the oldest of them, the one with the shortest positioning
 * time (core/drive/plan.h), of two alike the older one; one that has waited for too long goes
 * before all others.
 *
 * The host owns the commands, gives each once, and has the drive choose when it is free: at the
 * time when the one before was complete.  So the service of one that waits is not known
 * before.
 */
#ifndef UNDERSTUDY_COMMAND_QUEUE_H
#define UNDERSTUDY_COMMAND_QUEUE_H

#include "command.h"
#include "drive.h"

/* In the order in which they were given; usable when zeroed. */
struct command_queue {
	struct command *oldest, *newest;
};

void command_queue_give(struct command_queue *queue, const struct drive *drive,
			struct command *command);

/* The drive's disk has become another one: where on it is what waits? */
void command_queue_aim(struct command_queue *queue, const struct drive *drive);

/* It has to wait there, and does not any more. */
void command_queue_remove(struct command_queue *queue, struct command *command);

/* What the drive, which is free at that time, goes on with; NULL if nothing waits. */
struct command *command_queue_take(struct command_queue *queue, struct drive *drive,
				   u64 now_ns);

#endif
