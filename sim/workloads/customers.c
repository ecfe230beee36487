// SPDX-License-Identifier: MIT
/*
 * Open: requests of several classes of customers, a process for each class, at the measured arrival
 * times. The service time of each piece of a request is sampled from the Markovian arrival process
 * of its class (ICPE 2011, section 4.2).
 */
#include "../workload.h"

/**
 * struct customer - one class
 * @service: its service times
 * @next: index of its next request
 * @end: number of requests that arrive before the end of the run
 * @at_ns: when the last request arrived
 * @pieces: number of pieces of that request that are still to be issued
 */
struct customer {
	struct service_chain service;
	u64 next;
	u64 end;
	u64 at_ns;
	u32 pieces;
};

struct customers {
	const struct world *world;
	struct customer *customer;
};

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
	for (i = 0; !error && i < world->processes; i++) {
		struct customer *customer = &customers->customer[i];

		service_chain_begin(&customer->service, &world->service, i, world->seed,
				    i);
		error = arrivals_before(&world->arrivals[i], world->until_ns,
					&customer->end);
	}
	return error;
}

static void customers_exit(void *state)
{
	struct customers *customers = state;

	port_free(customers->customer);
}

static bool customers_step(void *state, u32 process, struct step *step)
{
	struct customers *customers = state;
	const struct world *world = customers->world;
	const struct arrivals *arrivals = &world->arrivals[process];
	struct customer *customer = &customers->customer[process];
	u64 think_ns = 0;

	if (!customer->pieces) {
		if (customer->next == customer->end)
			return false;
		think_ns = arrivals->arrival_ns[customer->next] - customer->at_ns;
		customer->at_ns += think_ns;
		customer->pieces = arrivals->pieces[customer->next++];
	}
	customer->pieces--;
	*step = (struct step){
		.think_ns = think_ns,
		.cost_ns = service_chain_draw(&customer->service, &world->service),
		.file = NO_FILE,
		.sectors = 1,
		.owner = process,
		.more = customer->pieces,
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
