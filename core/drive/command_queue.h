/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Command queueing in the drive: the queue of commands that the drive has not begun. A drive that
 * is free chooses, from the oldest of these commands, the one with the shortest positioning time
 * (core/drive/plan.h). Of two commands with equal times it chooses the older. A command that has
 * waited too long goes before all others.
 *
 * The host owns the commands, passes each one to the drive once, and lets the drive choose when the
 * drive is free, that is when the previous command completed. So the service time of a pending
 * command is not known in advance.
 */
#ifndef UNDERSTUDY_COMMAND_QUEUE_H
#define UNDERSTUDY_COMMAND_QUEUE_H

#include "command.h"
#include "drive.h"

/* Commands in the order in which the drive received them; usable when zeroed. */
struct command_queue {
	struct command *oldest, *newest;
};

void command_queue_give(struct command_queue *queue, const struct drive *drive,
			struct command *command);

/*
 * The drive's disk was replaced: compute the arm position of each pending command on the new disk.
 */
void command_queue_aim(struct command_queue *queue, const struct drive *drive);

/* Remove a command, which must be in the queue. */
void command_queue_remove(struct command_queue *queue, struct command *command);

/* Take the command that the drive, free at now_ns, serves next; NULL if none is pending. */
struct command *command_queue_take(struct command_queue *queue, struct drive *drive,
				   u64 now_ns);

#endif
