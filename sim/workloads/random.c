// SPDX-License-Identifier: MIT
/*
 * Requests to uniformly random sectors of the raw disk; each process has one request at a time. The
 * random numbers are those of guest/random.c.
 */
#include "../streams.h"
#include "../workload.h"

struct random {
	u64 writes_percent;
	u64 sectors;
	u64 think_ns;

	u64 places;
	struct draw *draw;
};

static const struct sched_field random_parameters[] = {
	SCHED_TUNABLE(random, writes_percent, 0, 0, 100, "share of writes"),
	SCHED_TUNABLE(random, sectors, 8, 1, 1 << 15, "sectors of a request"),
	SCHED_TUNABLE(random, think_ns, 0, 0, 3600000000000ull,
		      "time between an answer and the next request"),
};

static int random_init(void *state, const struct world *world)
{
	struct random *random = state;

	random->places = world->capacity_sectors / random->sectors;
	random->draw = streams_new(world->seed, world->processes);
	if (!random->places)
		return -ENOSPC;
	return random->draw ? 0 : -ENOMEM;
}

static void random_exit(void *state)
{
	struct random *random = state;

	port_free(random->draw);
}

static bool random_step(void *state, u32 process, struct step *step)
{
	struct random *random = state;
	struct draw *draw = &random->draw[process];

	*step = (struct step){
		.think_ns = random->think_ns,
		.file = NO_FILE,
		.owner = process,
		.sectors = random->sectors,
	};
	step->op = draw_below(draw, 100) < random->writes_percent;
	step->sector = draw_below(draw, random->places) * random->sectors;
	return true;
}

static const struct workload random_workload = {
	.name = "random",
	.summary = "uniformly drawn places of the raw disk",
	.state_size = sizeof(struct random),
	.parameters = random_parameters,
	.nr_parameters = ARRAY_SIZE(random_parameters),
	.init = random_init,
	.exit = random_exit,
	.step = random_step,
};
REGISTER_WORKLOAD(random_workload);
