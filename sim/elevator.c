// SPDX-License-Identifier: MIT
#include "elevator.h"
#include "fields.h"

int elevator_init(struct elevator *elevator, const struct sim_input *input,
		  struct pending *pool)
{
	const struct scheduler *scheduler = input->scheduler;
	struct sched_limits limits = {
		.capacity_sectors = input->world.capacity_sectors,
		.max_requests = input->max_pending,
	};
	void *state;
	int error;

	elevator->scheduler = scheduler;
	elevator->pool = pool;
	elevator->merge_sectors = input->merge_sectors;
	if (input->merge_sectors &&
	    extents_init(&elevator->extents, input->max_pending))
		return -ENOMEM;
	state = port_zalloc(scheduler->state_size);
	if (!state)
		return -ENOMEM;
	fields_set(state, scheduler->tunables, scheduler->nr_tunables, input->tunables);
	error = scheduler->init ? scheduler->init(state, &limits) : 0;
	if (error)
		port_free(state);
	else
		elevator->state = state;
	return error;
}

void elevator_exit(struct elevator *elevator, u64 *counters)
{
	const struct scheduler *scheduler = elevator->scheduler;

	extents_exit(&elevator->extents);
	if (!elevator->state)
		return;
	fields_get(elevator->state, scheduler->counters, scheduler->nr_counters,
		   counters);
	if (scheduler->exit)
		scheduler->exit(elevator->state);
	port_free(elevator->state);
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
	elevator->scheduler->add(elevator->state, &pending->io, now_ns);
	elevator->nr_pending++;
}

static void take_back(struct elevator *elevator, struct pending *pending)
{
	extents_remove(&elevator->extents, number_of(elevator, pending));
	elevator->scheduler->remove(elevator->state, &pending->io);
	elevator->nr_pending--;
}

static struct pending *found(const struct elevator *elevator, u32 i, u64 sectors)
{
	if (i == NO_EXTENT ||
	    elevator->pool[i].io.sectors + sectors > elevator->merge_sectors)
		return NULL;
	return &elevator->pool[i];
}

/* One that ends where this one begins, unless both together are too long. */
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

/* Neighbours become one request, as old as the older one. */
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

/* Into one that it touches, and that one with the next if the gap between them closes.
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

struct pending *elevator_next(struct elevator *elevator, u64 now_ns, u64 *wake_ns)
{
	struct io_request *io =
		elevator->scheduler->next(elevator->state, now_ns, wake_ns);
	struct pending *pending = (struct pending *)io;

	if (!io)
		return NULL;
	if (elevator->merge_sectors)
		extents_remove(&elevator->extents, number_of(elevator, pending));
	elevator->nr_pending--;
	return pending;
}

void elevator_completed(struct elevator *elevator, const struct pending *pending,
			u64 now_ns)
{
	if (elevator->scheduler->completed)
		elevator->scheduler->completed(elevator->state, &pending->io, now_ns);
}
