// SPDX-License-Identifier: MIT
/*
 * Streams: each process issues requests upwards from its own first sector, and wraps around at the
 * end of the disk. The processes' first sectors divide the disk into equal parts.
 */
#include "../streams.h"
#include "../workload.h"

struct sequential {
	u64 writes_percent;
	u64 sectors;
	u64 think_ns;

	u64 places;
	u64 *at; /* next sector of each process */
	struct draw *draw;
};

static const struct sched_field sequential_parameters[] = {
	SCHED_TUNABLE(sequential, writes_percent, 0, 0, 100, "share of writes"),
	SCHED_TUNABLE(sequential, sectors, 8, 1, 1 << 15, "sectors of a request"),
	SCHED_TUNABLE(sequential, think_ns, 0, 0, 3600000000000ull,
		      "time between an answer and the next request"),
};

static int sequential_init(void *state, const struct world *world)
{
	struct sequential *sequential = state;
	u32 i;

	sequential->places = world->capacity_sectors / sequential->sectors;
	sequential->draw = streams_new(world->seed, world->processes);
	sequential->at = port_zalloc(world->processes * sizeof(*sequential->at));
	if (!sequential->places)
		return -ENOSPC;
	if (!sequential->draw || !sequential->at)
		return -ENOMEM;
	for (i = 0; i < world->processes; i++)
		sequential->at[i] =
			port_mul_div(sequential->places, i, world->processes);
	return 0;
}

static void sequential_exit(void *state)
{
	struct sequential *sequential = state;

	port_free(sequential->draw);
	port_free(sequential->at);
}

static bool sequential_step(void *state, u32 process, struct step *step)
{
	struct sequential *sequential = state;
	u64 *at = &sequential->at[process];

	*step = (struct step){
		.think_ns = sequential->think_ns,
		.file = NO_FILE,
		.owner = process,
		.sector = *at * sequential->sectors,
		.sectors = sequential->sectors,
	};
	step->op = draw_below(&sequential->draw[process], 100) <
		   sequential->writes_percent;
	*at = *at + 1 < sequential->places ? *at + 1 : 0;
	return true;
}

static const struct workload sequential_workload = {
	.name = "sequential",
	.summary = "each process upwards from a place of its own",
	.state_size = sizeof(struct sequential),
	.parameters = sequential_parameters,
	.nr_parameters = ARRAY_SIZE(sequential_parameters),
	.init = sequential_init,
	.exit = sequential_exit,
	.step = sequential_step,
};
REGISTER_WORKLOAD(sequential_workload);
