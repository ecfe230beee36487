// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "command_queue.h"
#include "estimate.h"

void command_queue_give(struct command_queue *queue, struct command *command)
{
	command->before = queue->newest;
	command->after = NULL;
	if (queue->newest)
		queue->newest->after = command;
	else
		queue->oldest = command;
	queue->newest = command;
}

void command_queue_remove(struct command_queue *queue, struct command *command)
{
	if (command->before)
		command->before->after = command->after;
	else
		queue->oldest = command->after;
	if (command->after)
		command->after->before = command->before;
	else
		queue->newest = command->before;
}

static u64 positioning_ns(struct drive *drive, const struct command *command,
			  u64 now_ns)
{
	if (command->op >= IO_OPS)
		return 0;
	if (command->through)
		return estimate_through_ns(drive, command->sector, now_ns);
	return estimate_ns(drive, command->op, command->sector, command->sectors,
			   now_ns);
}

static struct command *choose(struct command *oldest, struct drive *drive, u64 now_ns)
{
	struct command *command, *best = oldest;
	u64 best_ns = U64_MAX;
	u64 left = drive->queue_depth;

	for (command = oldest; command && left; command = command->after, left--) {
		u64 ns = positioning_ns(drive, command, now_ns);

		if (ns < best_ns) {
			best_ns = ns;
			best = command;
		}
	}
	return best;
}

struct command *command_queue_take(struct command_queue *queue, struct drive *drive,
				   u64 now_ns)
{
	struct command *taken = queue->oldest;

	if (!taken)
		return NULL;
	if (taken->after && now_ns < taken->given_ns + drive->queue_age_ns)
		taken = choose(taken, drive, now_ns);
	command_queue_remove(queue, taken);
	return taken;
}
