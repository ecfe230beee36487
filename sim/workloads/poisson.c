// SPDX-License-Identifier: MIT
/*
 * Open: independent arrivals at a mean rate, to uniformly random sectors of the raw disk. Each
 * process is a separate Poisson stream, so the total rate is the sum of the processes' rates.
 */
#include "../streams.h"
#include "../workload.h"

struct poisson {
	u64 mean_gap_ns;
	u64 writes_percent;
	u64 sectors;

	u64 places;
	struct draw *draw;
};

static const struct sched_field poisson_parameters[] = {
	SCHED_TUNABLE(poisson, mean_gap_ns, 20000000, 1, 1ull << 56,
		      "mean time between arrivals of a process"),
	SCHED_TUNABLE(poisson, writes_percent, 0, 0, 100, "share of writes"),
	SCHED_TUNABLE(poisson, sectors, 8, 1, 1 << 15, "sectors of a request"),
};

static int poisson_init(void *state, const struct world *world)
{
	struct poisson *poisson = state;

	poisson->places = world->capacity_sectors / poisson->sectors;
	poisson->draw = streams_new(world->seed, world->processes);
	if (!poisson->places)
		return -ENOSPC;
	return poisson->draw ? 0 : -ENOMEM;
}

static void poisson_exit(void *state)
{
	struct poisson *poisson = state;

	port_free(poisson->draw);
}

static bool poisson_step(void *state, u32 process, struct step *step)
{
	struct poisson *poisson = state;
	struct draw *draw = &poisson->draw[process];

	*step = (struct step){
		.think_ns = draw_exponential(draw, poisson->mean_gap_ns),
		.file = NO_FILE,
		.owner = process,
		.sectors = poisson->sectors,
	};
	step->op = draw_below(draw, 100) < poisson->writes_percent;
	step->sector = draw_below(draw, poisson->places) * poisson->sectors;
	return true;
}

static const struct workload poisson_workload = {
	.name = "poisson",
	.summary = "open: independent arrivals at uniformly drawn places",
	.open = true,
	.state_size = sizeof(struct poisson),
	.parameters = poisson_parameters,
	.nr_parameters = ARRAY_SIZE(poisson_parameters),
	.init = poisson_init,
	.exit = poisson_exit,
	.step = poisson_step,
};
REGISTER_WORKLOAD(poisson_workload);
