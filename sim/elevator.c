// SPDX-License-Identifier: MIT
#include <string.h>

#include "elevator.h"
#include "fields.h"

int elevator_init(struct elevator *elevator, const struct sim_input *input,
		  struct pending *pool, struct timed_device *device)
{
	const struct scheduler *scheduler = input->scheduler;
	struct sched_limits limits = {
		.capacity_sectors = input->world.capacity_sectors,
		.max_requests = input->max_pending,
		.depth = input->depth,
	};

	if (scheduler->needs_model && input->drive) {
		limits.positioning_ns = device_positioning_ns;
		limits.device = device;
	}
	elevator->bundles = bundles_any(input->bundling, input->world.processes);
	if (elevator->bundles && !scheduler->more)
		return -EOPNOTSUPP;
	elevator->pool = pool;
	elevator->merge_sectors = input->merge_sectors;
	if (input->merge_sectors &&
	    extents_init(&elevator->extents, input->max_pending))
		return -ENOMEM;
	elevator->state = port_zalloc(scheduler->state_size);
	if (!elevator->state)
		return -ENOMEM;
	fields_set(elevator->state, scheduler->tunables, scheduler->nr_tunables,
		   input->tunables);
	return contract_init(&elevator->contract, scheduler, elevator->state, &limits,
			     &pool->io, sizeof(*pool), input->max_pending);
}

/* Copy the results before the scheduler's exit, which may end this process. */
void elevator_exit(struct elevator *elevator, struct sim_summary *summary)
{
	const struct scheduler *scheduler = elevator->contract.scheduler;
	const struct io_request *oldest = NULL;

	if (scheduler)
		oldest = contract_oldest(&elevator->contract);
	summary->oldest = oldest ? oldest->id : 0;
	summary->init_error = elevator->contract.init_error;
	memcpy(summary->broken, elevator->contract.broken, CONTRACT_TEXT);
	if (scheduler)
		fields_get(elevator->state, scheduler->counters, scheduler->nr_counters,
			   summary->counters);
	contract_exit(&elevator->contract);
	port_free(elevator->state);
	extents_exit(&elevator->extents);
}

static u32 number_of(const struct elevator *elevator, const struct pending *pending)
{
	return pending - elevator->pool;
}

static void hand_in(struct elevator *elevator, struct pending *pending, u64 now_ns)
{
	if (elevator->merge_sectors)
		extents_add(&elevator->extents, number_of(elevator, pending),
			    &pending->io);
	contract_add(&elevator->contract, &pending->io, now_ns);
}

static void take_back(struct elevator *elevator, struct pending *pending)
{
	extents_remove(&elevator->extents, number_of(elevator, pending));
	contract_remove(&elevator->contract, &pending->io);
}

static struct pending *found(const struct elevator *elevator, u32 i, u64 sectors)
{
	if (i == NO_EXTENT ||
	    elevator->pool[i].io.sectors + sectors > elevator->merge_sectors)
		return NULL;
	return &elevator->pool[i];
}

/*
 * Find a pending request that ends where this one begins; NULL if the merged request would be too
 * long.
 */
static struct pending *before(const struct elevator *elevator,
			      const struct io_request *io)
{
	u32 i = extents_ending_at(&elevator->extents, io->op, io->sector);

	return found(elevator, i, io->sectors);
}

static struct pending *after(const struct elevator *elevator,
			     const struct io_request *io)
{
	u32 i = extents_starting_at(&elevator->extents, io->op, request_end(io));

	return found(elevator, i, io->sectors);
}

/*
 * Merge one request into an adjacent one. The merged request keeps the id and the arrival time of
 * the older one.
 */
static void unite(struct pending *kept, struct pending *gone)
{
	struct pending *last = kept;

	while (last->next)
		last = last->next;
	last->next = gone;
	if (gone->io.sector < kept->io.sector)
		kept->io.sector = gone->io.sector;
	kept->io.sectors += gone->io.sectors;
	kept->io.cost_ns += gone->io.cost_ns;
	if (gone->io.id > kept->io.id)
		return;
	kept->io.id = gone->io.id;
	kept->io.arrival_ns = gone->io.arrival_ns;
}

/*
 * Merge a new request into an adjacent pending request. If this closes the gap to a third request,
 * merge the third request too.
 */
static bool merge(struct elevator *elevator, struct pending *pending, u64 now_ns)
{
	struct pending *kept =
		before(elevator, &pending->io) ?: after(elevator, &pending->io);
	struct pending *next;

	if (!kept)
		return false;
	take_back(elevator, kept);
	unite(kept, pending);
	next = after(elevator, &kept->io);
	if (next) {
		take_back(elevator, next);
		unite(kept, next);
	}
	hand_in(elevator, kept, now_ns);
	return true;
}

void elevator_add(struct elevator *elevator, struct pending *pending, u64 now_ns)
{
	pending->next = NULL;
	if (!elevator->merge_sectors || !merge(elevator, pending, now_ns))
		hand_in(elevator, pending, now_ns);
}

/* No request may merge with a request that the scheduler has handed out. */
static void hand_over(struct elevator *elevator, const struct pending *pending)
{
	if (elevator->merge_sectors)
		extents_remove(&elevator->extents, number_of(elevator, pending));
}

struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns)
{
	struct contract *contract = &elevator->contract;
	struct io_request *io = contract_next(contract, now_ns, wake_ns);
	struct pending *pending = (struct pending *)io;

	if (!io || contract_is_broken(contract))
		return NULL;
	hand_over(elevator, pending);
	return pending;
}

void elevator_join(struct elevator *elevator, struct pending *first, u32 most,
		   u64 now_ns)
{
	struct contract *contract = &elevator->contract;
	struct pending *last = first;
	struct io_request *io;

	for (; most && contract->pending; most--) {
		io = contract_more(contract, &first->io, now_ns);
		if (!io)
			return;
		while (last->next)
			last = last->next;
		last->next = (struct pending *)io;
		hand_over(elevator, last->next);
	}
}

void elevator_completed(struct elevator *elevator, struct pending *pending, u64 now_ns)
{
	struct pending *part;

	contract_completed(&elevator->contract, &pending->io, now_ns);
	if (!elevator->bundles)
		return;
	for (part = pending->next; part; part = part->next) {
		if (part->io.joined)
			contract_completed(&elevator->contract, &part->io, now_ns);
	}
}
