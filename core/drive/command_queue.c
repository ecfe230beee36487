// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "command_queue.h"

void command_queue_give(struct command_queue *queue, const struct drive *drive,
			struct command *command)
{
	plan_aim(drive, command);
	command->before = queue->newest;
	command->after = NULL;
	if (queue->newest)
		queue->newest->after = command;
	else
		queue->oldest = command;
	queue->newest = command;
}

void command_queue_aim(struct command_queue *queue, const struct drive *drive)
{
	struct command *command;

	for (command = queue->oldest; command; command = command->after)
		plan_aim(drive, command);
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

static struct command *choose(struct command *oldest, struct drive *drive, u64 now_ns)
{
	struct drive_outlook look = drive_look(drive, now_ns);
	struct sieve held = plan_sieve(drive);
	struct command *command, *best = oldest;
	u64 soonest_ns = U64_MAX;
	u64 left = drive->queue_depth;

	look.sieve = &held;
	plan_look(drive, &look);
	for (command = oldest; command && left; command = command->after, left--) {
		u64 ns = plan_first_ns(drive, &look, command, soonest_ns);

		if (ns < soonest_ns) {
			soonest_ns = ns;
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
