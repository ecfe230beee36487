// SPDX-License-Identifier: MIT
/*
 * Open: requests of several classes of customers, a process for each class. The arrivals are the
 * measured ones, or blocks of them (arrivals.h). The service time of each piece of a request is
 * sampled from the Markovian arrival process of its class (ICPE 2011, section 4.2), or is the
 * measured one.
 */
#include "../workload.h"

/* Class i takes blocks of arrivals from stream BLOCK_STREAMS + i, service times from stream i. */
#define BLOCK_STREAMS (1ull << 32)

/**
 * struct customer - one class
 * @service: its service times
 * @walk: its requests
 * @recorded: service times are those of the requests
 * @pieces: number of pieces of the current request that are still to be issued
 */
struct customer {
	struct service_chain service;
	struct arrivals_walk walk;
	bool recorded;
	u32 pieces;
};

struct customers {
	const struct world *world;
	struct customer *customer;
};

static int begin(struct customer *customer, const struct world *world, u32 class)
{
	const struct arrivals *arrivals = &world->arrivals[class];
	const struct resampling *resampling = NULL;

	if (world->resampling)
		resampling = &world->resampling[class];
	customer->recorded = resampling && resampling->recorded && arrivals->service_ns;
	service_chain_begin(&customer->service, &world->service, class, world->seed,
			    class);
	return arrivals_walk_begin(&customer->walk, arrivals, resampling,
				   world->until_ns, world->seed, BLOCK_STREAMS + class);
}

static int customers_init(void *state, const struct world *world)
{
	struct customers *customers = state;
	int error = 0;
	u32 i;

	customers->world = world;
	if (!world->arrivals || !world->service.start)
		return -ENOENT;
	customers->customer =
		port_zalloc(world->processes * sizeof(*customers->customer));
	if (!customers->customer)
		return -ENOMEM;
	for (i = 0; !error && i < world->processes; i++)
		error = begin(&customers->customer[i], world, i);
	return error;
}

static void customers_exit(void *state)
{
	struct customers *customers = state;

	port_free(customers->customer);
}

static u64 service_ns(struct customer *customer, const struct world *world)
{
	if (customer->recorded)
		return arrivals_walk_service_ns(&customer->walk);
	return service_chain_draw(&customer->service, &world->service);
}

static bool customers_step(void *state, u32 process, struct step *step)
{
	struct customers *customers = state;
	const struct world *world = customers->world;
	struct customer *customer = &customers->customer[process];
	u64 think_ns = 0;

	if (!customer->pieces) {
		u64 before_ns = customer->walk.at_ns;

		if (!arrivals_walk_next(&customer->walk))
			return false;
		think_ns = customer->walk.at_ns - before_ns;
		customer->pieces = arrivals_walk_pieces(&customer->walk);
	}
	customer->pieces--;
	*step = (struct step){
		.think_ns = think_ns,
		.cost_ns = service_ns(customer, world),
		.waited_ns = arrivals_walk_waited_ns(&customer->walk),
		.file = NO_FILE,
		.sectors = 1,
		.owner = process,
		.more = customer->pieces,
		.op = arrivals_walk_write(&customer->walk) ? IO_WRITE : IO_READ,
	};
	return true;
}

static const struct workload customers_workload = {
	.name = "customers",
	.summary = "open: measured arrivals of several classes, service times drawn",
	.open = true,
	.state_size = sizeof(struct customers),
	.init = customers_init,
	.exit = customers_exit,
	.step = customers_step,
};
REGISTER_WORKLOAD(customers_workload);
