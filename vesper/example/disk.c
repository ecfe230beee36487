// SPDX-License-Identifier: MIT
/*
 * The disk driver. Requests wait in the disk scheduler, which is one file of its own
 * (core/scheduler.h); when the disk is free, the scheduler chooses the next one. The disk is asked
 * when no thread can run any more, so the scheduler sees all requests of an instant. A new request is
 * merged into one that waits right before or behind it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "os.h"

#define MERGED_MAX 2560

/*
 * A request, from disk_read() to its interrupt. The scheduler knows its first member, which includes
 * the requests merged into it: its parts, itself first.
 */
struct request {
	struct io_request io;
	u32 block, blocks; /* without other parts */
	u64 arrival_ns;
	void *data;
	void (*ready)(void *argument);
	void *argument;
	u32 thread;
	u64 dispatch_ns;
	struct request *part;
	struct request *before, *after; /* of those that wait */
};

static struct vesper disk;
static char *contents;
static void *scheduler_state;
static struct request *waiting; /* in the scheduler */
static struct request *in_service;
static char *transfer; /* the data of all parts */
static u64 requests;
static u64 wake_ns; /* the scheduler wants to be asked again */
static bool log_each;

static void finish(struct request *part, u64 dispatch_ns, u64 done_ns)
{
	memcpy(part->data,
	       transfer + (part->block - in_service->io.sector) * BLOCK_BYTES,
	       (size_t)part->blocks * BLOCK_BYTES);
	if (log_each)
		printf("%u %u %u %llu %llu %llu\n", part->thread, part->block,
		       part->blocks, (unsigned long long)part->arrival_ns,
		       (unsigned long long)dispatch_ns, (unsigned long long)done_ns);
	part->ready(part->argument);
}

static void interrupt(void *context, const struct vesper_done *done)
{
	struct request *part = in_service;

	(void)context;
	if (done->result)
		panic("block %u: %s", (u32)done->start_block,
		      vesper_error(done->result));
	if (module_scheduler->completed)
		module_scheduler->completed(scheduler_state, &in_service->io,
					    vesper_now_ns(&disk));
	for (; part; part = part->part)
		finish(part, in_service->dispatch_ns, done->done_ns);
	while (in_service) {
		part = in_service->part;
		free(in_service);
		in_service = part;
	}
	free(transfer);
}

static void init_scheduler(u32 blocks)
{
	struct sched_limits limits = {
		.capacity_sectors = blocks,
		.max_requests = 1024,
		.depth = 1,
	};
	u32 i;

	if (module_scheduler->needs_model)
		panic("%s needs a model of the disk, which this driver has not",
		      module_scheduler->name);
	scheduler_state = port_zalloc(module_scheduler->state_size);
	for (i = 0; scheduler_state && i < module_scheduler->nr_tunables; i++) {
		const struct sched_field *field = &module_scheduler->tunables[i];

		*sched_field_value(scheduler_state, field) = field->initial;
	}
	if (!scheduler_state || (module_scheduler->init &&
				 module_scheduler->init(scheduler_state, &limits)))
		panic("the scheduler does not start");
}

void disk_init(const struct options *options)
{
	struct vesper_config config = {
		.profile = options->profile,
		.blocks = options->blocks,
		.block_bytes = BLOCK_BYTES,
		.interrupt = interrupt,
		.seed = options->seed,
	};
	int result;

	contents = calloc(options->blocks, BLOCK_BYTES);
	config.memory = contents;
	result = vesper_init(&disk, &config);
	if (result)
		panic("%s: %s", options->profile, vesper_error(result));
	init_scheduler(options->blocks);
	log_each = options->log;
}

void *disk_contents(u32 block)
{
	return contents + (size_t)block * BLOCK_BYTES;
}

/* Hand a request to the scheduler, or take it back. */
static void add(struct request *request)
{
	request->before = NULL;
	request->after = waiting;
	if (waiting)
		waiting->before = request;
	waiting = request;
	module_scheduler->add(scheduler_state, &request->io, vesper_now_ns(&disk));
	wake_ns = 0;
}

static void unlink_waiting(struct request *request)
{
	if (request->before)
		request->before->after = request->after;
	else
		waiting = request->after;
	if (request->after)
		request->after->before = request->before;
}

static void take_back(struct request *request)
{
	unlink_waiting(request);
	module_scheduler->remove(scheduler_state, &request->io);
}

/* Return a request that waits right before or right behind this one; NULL if there is none. */
static struct request *neighbour(const struct request *request, bool before)
{
	const struct io_request *io = &request->io;
	struct request *other;

	for (other = waiting; other; other = other->after) {
		bool meets = before ? request_end(&other->io) == io->sector
				    : request_end(io) == other->io.sector;

		if (meets && other->io.sectors + io->sectors <= MERGED_MAX)
			break;
	}
	return other;
}

/* Make a request part of another one, which is then as old as the older of both. */
static void unite(struct request *kept, struct request *gone)
{
	struct request *last = kept;

	while (last->part)
		last = last->part;
	last->part = gone;
	if (gone->io.sector < kept->io.sector)
		kept->io.sector = gone->io.sector;
	kept->io.sectors += gone->io.sectors;
	if (gone->io.id < kept->io.id) {
		kept->io.id = gone->io.id;
		kept->io.arrival_ns = gone->io.arrival_ns;
	}
}

static bool merge(struct request *request)
{
	struct request *kept = neighbour(request, true) ?: neighbour(request, false);
	struct request *next;

	if (!kept)
		return false;
	take_back(kept);
	unite(kept, request);
	next = neighbour(kept, false);
	if (next) {
		take_back(next);
		unite(kept, next);
	}
	add(kept);
	return true;
}

void disk_read(u32 block, u32 blocks, void *data, void (*ready)(void *argument),
	       void *argument)
{
	struct request *request = calloc(1, sizeof(*request));
	u64 now_ns = vesper_now_ns(&disk);

	if (!request)
		panic("no memory");
	*request = (struct request){
		.io = { .sector = block,
			.sectors = blocks,
			.op = IO_READ,
			.arrival_ns = now_ns,
			.id = ++requests,
			.owner = thread_number(thread_current()),
			.weight = IO_WEIGHT_DEFAULT,
			.io_class = IO_CLASS_BEST_EFFORT,
			.level = IO_LEVEL_DEFAULT },
		.block = block,
		.blocks = blocks,
		.arrival_ns = now_ns,
		.data = data,
		.ready = ready,
		.argument = argument,
		.thread = thread_number(thread_current()),
	};
	if (!merge(request))
		add(request);
}

static void wake_argument(void *thread)
{
	thread_wake(thread);
}

void disk_read_now(u32 block, u32 blocks, void *data)
{
	disk_read(block, blocks, data, wake_argument, thread_current());
	thread_wait();
}

/* Ask the scheduler for a request, and give it to the disk. */
static void start(void)
{
	u64 now_ns = vesper_now_ns(&disk);
	int result;

	if (in_service || now_ns < wake_ns ||
	    !module_scheduler->has_work(scheduler_state))
		return;
	wake_ns = 0;
	in_service = (struct request *)module_scheduler->next(scheduler_state, now_ns,
							      &wake_ns);
	if (!in_service)
		return;
	unlink_waiting(in_service);
	in_service->dispatch_ns = now_ns;
	transfer = malloc((size_t)in_service->io.sectors * BLOCK_BYTES);
	result = vesper_read(&disk, in_service->io.sector, in_service->io.sectors,
			     transfer);
	if (result)
		panic("block %u: %s", (u32)in_service->io.sector, vesper_error(result));
}

bool disk_turn(void)
{
	u64 next_ns;

	start();
	next_ns = vesper_next_ns(&disk);
	if (!in_service && wake_ns > vesper_now_ns(&disk))
		next_ns = wake_ns;
	if (next_ns == VESPER_NEVER)
		return false;
	return vesper_advance(&disk, next_ns) == VESPER_OK;
}

void disk_report(void)
{
	struct vesper_totals sums;

	vesper_statistics(&disk, &sums);
	printf("scheduler %s: %llu requests, %llu sectors\n", module_scheduler->name,
	       (unsigned long long)sums.requests, (unsigned long long)sums.sectors);
	printf("elapsed %.3f ms: seek %.3f, rotation %.3f, transfer %.3f, cache %.3f, "
	       "idle %.3f\n",
	       sums.elapsed_ns / 1e6, sums.seek_ns / 1e6, sums.rotation_ns / 1e6,
	       sums.transfer_ns / 1e6, sums.cache_ns / 1e6, sums.idle_ns / 1e6);
}
