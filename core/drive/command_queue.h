/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Command queueing in the drive: the queue of commands that the drive has not begun. When the drive
 * becomes free, it chooses among the oldest of these commands the one with the shortest positioning
 * time (core/drive/plan.h). Of two commands with equal times it chooses the older. A command that
 * has waited too long goes before all others.
 *
 * The host owns the commands and passes each command to the drive once. When the previous command
 * has completed, the host lets the drive choose the next one. So the service time of a pending
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

/* Compute the arm position of each pending command again, after the drive's disk was replaced. */
void command_queue_aim(struct command_queue *queue, const struct drive *drive);

/* Remove a command, which must be in the queue. */
void command_queue_remove(struct command_queue *queue, struct command *command);

/*
 * Remove and return the command that the drive serves next if it is free at now_ns; NULL if none is
 * pending.
 */
struct command *command_queue_take(struct command_queue *queue, struct drive *drive,
				   u64 now_ns);

#endif
