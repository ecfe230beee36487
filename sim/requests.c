// SPDX-License-Identifier: MIT
#include "measure.h"
#include "sim.h"

/*
 * Limit of successive calls of next that return no request. A scheduler that waits deliberately
 * needs one more call, or a few more if it wakes up periodically.
 */
#define REFUSALS_IN_A_ROW_MAX 1000000

/*
 * Limits of the number of arrivals after the measured ones, while a measured request is pending.
 * Processes that wait for completions cannot issue many requests in that time, and a burst of open
 * arrivals is shorter than a hundred measurements.
 */
#define LATER_ARRIVALS_MAX 1000000
#define LATER_ARRIVALS_EACH 100

static struct pending *take_free(struct sim *sim)
{
	u32 slot = slots_take(&sim->slots);

	if (slot == NO_SLOT) {
		sim->error = -EOVERFLOW;
		return NULL;
	}
	return &sim->pool[slot];
}

static void give_back(struct sim *sim, struct pending *pending)
{
	slots_give(&sim->slots, pending - sim->pool);
}

/* Count an arrival, and return its row in the results or NOT_MEASURED. */
static u64 measure_arrival(struct sim *sim)
{
	if (sim->arrived >= sim->target)
		return NOT_MEASURED;
	if (!sim->arrived)
		sim->summary->first_arrival_ns = sim->now_ns;
	sim->summary->last_arrival_ns = sim->now_ns;
	return sim->arrived;
}

/*
 * Return whether the scheduler starves measured requests, for example by always preferring new
 * ones.
 */
static bool is_starved(const struct sim *sim)
{
	u64 later = sim->arrived - sim->target;

	return sim->arrived > sim->target && later > LATER_ARRIVALS_MAX &&
	       later / LATER_ARRIVALS_EACH > sim->target;
}

static void set_class(const struct sim_input *input, struct io_request *io, u32 process)
{
	io->weight = input->weight ? input->weight[process] : IO_WEIGHT_DEFAULT;
	io->io_class =
		input->io_class ? input->io_class[process] : IO_CLASS_BEST_EFFORT;
	io->level = input->level ? input->level[process] : IO_LEVEL_DEFAULT;
}

/* Return the split request of which the process's step is a piece, or NO_SLOT. */
static u32 whole_of(struct sim *sim, struct process *process)
{
	u32 whole = process->whole;

	if (whole == NO_SLOT && process->step.more && sim->input->each)
		whole = wholes_begin(&sim->wholes, process->step.more + 1ull);
	process->whole = process->step.more ? whole : NO_SLOT;
	return whole;
}

/*
 * Return the service time on an array, either the given one or a random sample. Return 0 on a drive
 * or a target, which computes the service time later.
 */
static u64 cost_ns(struct sim *sim, u64 given_ns)
{
	if (sim->input->drive || sim->input->target)
		return 0;
	return given_ns ?: array_service_ns(&sim->device.array, &sim->device.draw);
}

struct bio *requests_arrive(struct sim *sim, u32 process, u64 sector, u32 sectors)
{
	const struct step *step = &sim->process[process].step;
	struct pending *pending = take_free(sim);

	if (!pending)
		return NULL;
	pending->bio = (struct bio){
		.arrival_ns = sim->now_ns,
		.waited_ns = step->waited_ns,
		.sector = sector,
		.row = measure_arrival(sim),
		.sectors = sectors,
		.owner = step->owner,
		.process = process,
		.whole = whole_of(sim, &sim->process[process]),
	};
	sim->arrived++;
	sim->hits_in_a_row = 0;
	if (is_starved(sim))
		sim->error = -ETIMEDOUT;
	pending->io = (struct io_request){
		.sector = sector,
		.arrival_ns = sim->now_ns,
		.id = sim->arrived,
		.cost_ns = cost_ns(sim, step->cost_ns),
		.sectors = sectors,
		.owner = step->owner,
		.op = step->op,
	};
	set_class(sim->input, &pending->io, process);
	elevator_add(&sim->elevator, pending, sim->now_ns);
	sim->settled = false;
	return &pending->bio;
}

/* Schedule a call of next at time_ns, unless an earlier call is already scheduled. */
static void enquire_at(struct sim *sim, u64 time_ns)
{
	if (time_ns >= sim->wake_ns && sim->wake_ns > sim->now_ns)
		return;
	sim->wake_ns = time_ns;
	sim_schedule(sim, time_ns, EVENT_ENQUIRE, 0);
}

/* The device has begun with the request: schedule the completion. */
static void begun(struct sim *sim, const struct pending *pending)
{
	sim_schedule(sim, pending->command.due_ns, EVENT_COMPLETION,
		     pending - sim->pool);
}

/* Return a bundle's service time on an array: the mean over its requests, rounded down. */
static u64 mean_cost_ns(const struct pending *first)
{
	unsigned __int128 sum = first->io.cost_ns;
	const struct pending *part;
	u32 count = 1;

	for (part = first->next; part; part = part->next) {
		if (!part->io.joined)
			continue;
		sum += part->io.cost_ns;
		count++;
	}
	return sum / count;
}

/* Join other requests to the scheduler's choice; return false if the scheduler broke a rule. */
static bool bundle(struct sim *sim, struct pending *first, u64 *cost_ns)
{
	struct elevator *elevator = &sim->elevator;
	const struct bundling *bundling = &sim->input->bundling[first->bio.process];
	u32 most = bundling_draw(bundling, &sim->bundle);

	if (!most)
		return true;
	elevator_join(elevator, first, most, sim->now_ns);
	*cost_ns = mean_cost_ns(first);
	return !contract_is_broken(&elevator->contract);
}

/*
 * Return the scheduler's choice, with other requests joined to it, or NULL. Set *cost_ns to its
 * service time on an array.
 */
static struct pending *choose(struct sim *sim, u64 *cost_ns, u64 *wake_ns)
{
	struct pending *first = elevator_next(&sim->elevator, sim->now_ns, wake_ns);

	if (!first)
		return NULL;
	*cost_ns = first->io.cost_ns;
	if (sim->elevator.bundles && !bundle(sim, first, cost_ns))
		return NULL;
	return first;
}

static void give(struct sim *sim, struct pending *pending, u64 cost_ns)
{
	struct timed_device *device = &sim->device;
	struct command *command = &pending->command;
	target_fn *target = sim->input->target;
	u64 now_ns = sim->now_ns;

	command->sector = pending->io.sector;
	command->sectors = pending->io.sectors;
	command->op = pending->io.op;
	command->through = false;
	if (target) {
		now_ns = servers_start_ns(&device->servers, now_ns);
		cost_ns = target(&pending->io, now_ns) - now_ns;
	}
	if (sim->input->drive)
		device_give(device, command, now_ns);
	else
		device_serve_for(device, command, cost_ns, now_ns);
}

static void start(struct sim *sim, struct pending *pending, u64 cost_ns)
{
	sim->refusals = 0;
	pending->dispatch_ns = sim->now_ns;
	pending->idle_ns = sim->in_service ? 0 : sim->now_ns - sim->idle_since_ns;
	sim->in_service++;
	give(sim, pending, cost_ns);
	if (!pending->command.waits)
		begun(sim, pending);
}

/* Let the device begin with a request that is queued in it, if there is one. */
static void go_on(struct sim *sim)
{
	struct command *command = device_next(&sim->device, sim->now_ns);

	if (command)
		begun(sim,
		      (void *)((char *)command - offsetof(struct pending, command)));
}

/*
 * Note that next returned no request. Do not call next again before its wake-up time, unless
 * something changes.
 */
static void refused(struct sim *sim, u64 wake_ns)
{
	sim->settled = true;
	if (contract_is_broken(&sim->elevator.contract))
		sim->error = -EPROTO;
	else if (++sim->refusals > REFUSALS_IN_A_ROW_MAX)
		sim->error = -EDEADLK;
	if (wake_ns > sim->now_ns)
		enquire_at(sim, wake_ns);
}

void requests_dispatch(struct sim *sim)
{
	while (!sim->settled && sim->elevator.contract.pending &&
	       sim->in_service < sim->input->depth) {
		struct pending *pending;
		u64 cost_ns, wake_ns;

		if (sim->now_ns < sim->ready_ns) {
			enquire_at(sim, sim->ready_ns);
			return;
		}
		pending = choose(sim, &cost_ns, &wake_ns);
		if (pending)
			start(sim, pending, cost_ns);
		else
			refused(sim, wake_ns);
	}
}

/* Report the completion to the processes or the page cache that issued the request's bios. */
static void hand_back(struct sim *sim, struct pending *pending)
{
	for (; pending; pending = pending->next) {
		const struct bio *bio = &pending->bio;

		if (bio->pages)
			page_cache_filled(&sim->pages, bio->file, bio->page,
					  bio->pages);
		else
			process_answered(sim, bio->process);
		give_back(sim, pending);
	}
}

void requests_complete(struct sim *sim, u32 i)
{
	struct pending *pending = &sim->pool[i];

	measure_completion(sim, pending);
	sim->last_completion_ns = sim->now_ns;
	go_on(sim);
	sim->settled = false;
	sim->ready_ns = sim->now_ns + sim->input->gap_ns;
	if (!--sim->in_service)
		sim->idle_since_ns = sim->now_ns;
	elevator_completed(&sim->elevator, pending, sim->now_ns);
	hand_back(sim, pending);
}
