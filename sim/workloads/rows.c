// SPDX-License-Identifier: MIT
/*
 * Steps from a table. Closed: a process waits until its requests are complete, and then for the
 * row's think time. Open: the times between rows do not depend on the disk.
 */
#include "../workload.h"

struct player {
	const struct rows *rows;
	u64 *at; /* next row of each process */
};

static int player_init(void *state, const struct world *world)
{
	struct player *player = state;
	u32 i;

	player->rows = &world->rows;
	player->at = port_zalloc(world->processes * sizeof(*player->at));
	if (!player->rows->first)
		return -ENOENT;
	if (!player->at)
		return -ENOMEM;
	for (i = 0; i < world->processes; i++)
		player->at[i] = player->rows->first[i];
	return 0;
}

static void player_exit(void *state)
{
	struct player *player = state;

	port_free(player->at);
}

static bool player_step(void *state, u32 process, struct step *step)
{
	struct player *player = state;
	const struct rows *rows = player->rows;
	u64 i = player->at[process];

	if (i == rows->first[process + 1])
		return false;
	player->at[process]++;
	*step = (struct step){
		.think_ns = rows->think_ns[i],
		.sector = rows->sector[i],
		.cost_ns = rows->cost_ns[i],
		.file = NO_FILE,
		.sectors = rows->sectors[i],
		.owner = rows->owner[i],
		.op = rows->op[i],
	};
	return true;
}

static const struct workload closed_rows = {
	.name = "rows-closed",
	.summary = "a table of requests, each after the answer to the one before",
	.state_size = sizeof(struct player),
	.init = player_init,
	.exit = player_exit,
	.step = player_step,
};
REGISTER_WORKLOAD(closed_rows);

static const struct workload open_rows = {
	.name = "rows-open",
	.summary = "a table of requests, each at its time",
	.open = true,
	.state_size = sizeof(struct player),
	.init = player_init,
	.exit = player_exit,
	.step = player_step,
};
REGISTER_WORKLOAD(open_rows);
