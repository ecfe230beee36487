// SPDX-License-Identifier: MIT
/*
 * The disk driver. Requests wait in the disk scheduler, which is one file of its own
 * (core/scheduler.h); when the disk is free, the scheduler chooses the next one. The disk is asked
 * when no thread can run any more, so the scheduler sees all requests of an instant.
 */
#include <stdio.h>
#include <stdlib.h>

#include "os.h"

/* A request, from disk_read() to its interrupt. The scheduler knows its first member. */
struct request {
	struct io_request io;
	void *data;
	void (*ready)(void *argument);
	void *argument;
	u64 dispatch_ns;
	u32 thread;
};

static struct vesper disk;
static char *contents;
static void *scheduler_state;
static struct request *in_service;
static u64 requests;
static u64 wake_ns; /* the scheduler wants to be asked again */
static bool log_each;

static void interrupt(void *context, const struct vesper_done *done)
{
	struct request *request = in_service;

	(void)context;
	if (done->result)
		panic("block %u: %s", (u32)done->start_block,
		      vesper_error(done->result));
	in_service = NULL;
	if (log_each)
		printf("%u %u %u %llu %llu %llu\n", request->thread,
		       (u32)request->io.sector, request->io.sectors,
		       (unsigned long long)request->io.arrival_ns,
		       (unsigned long long)request->dispatch_ns,
		       (unsigned long long)done->done_ns);
	if (module_scheduler->completed)
		module_scheduler->completed(scheduler_state, &request->io,
					    vesper_now_ns(&disk));
	request->ready(request->argument);
	free(request);
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

void disk_read(u32 block, u32 blocks, void *data, void (*ready)(void *argument),
	       void *argument)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		panic("no memory");
	*request = (struct request){
		.io = { .sector = block,
			.sectors = blocks,
			.op = IO_READ,
			.arrival_ns = vesper_now_ns(&disk),
			.id = ++requests,
			.owner = thread_number(thread_current()),
			.weight = IO_WEIGHT_DEFAULT,
			.io_class = IO_CLASS_BEST_EFFORT,
			.level = IO_LEVEL_DEFAULT },
		.data = data,
		.ready = ready,
		.argument = argument,
		.thread = thread_number(thread_current()),
	};
	module_scheduler->add(scheduler_state, &request->io, request->io.arrival_ns);
	wake_ns = 0;
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
	in_service->dispatch_ns = now_ns;
	result = vesper_read(&disk, in_service->io.sector, in_service->io.sectors,
			     in_service->data);
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
