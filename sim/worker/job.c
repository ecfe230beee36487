// SPDX-License-Identifier: MIT
#include <string.h>

#include "../registry.h"
#include "job.h"
#include "target.h"

#define UNPACK(job, pointer) ((pointer) = unpacked(job, (uintptr_t)(pointer)))

static void *unpacked(struct job *job, uintptr_t there)
{
	return there ? (char *)job + (there - job->address) : NULL;
}

static const struct workload *find_workload(const char *name)
{
	u32 i;

	for (i = 0; i < workload_count(); i++) {
		if (!strcmp(workload_get(i)->name, name))
			return workload_get(i);
	}
	return NULL;
}

static void unpack_columns(struct job *job)
{
	struct sim_columns *columns = &job->columns;

	UNPACK(job, columns->arrival_ns);
	UNPACK(job, columns->dispatch_ns);
	UNPACK(job, columns->start_ns);
	UNPACK(job, columns->completion_ns);
	UNPACK(job, columns->sector);
	UNPACK(job, columns->request_id);
	UNPACK(job, columns->model_service_ns);
	UNPACK(job, columns->idle_ns);
	UNPACK(job, columns->sectors);
	UNPACK(job, columns->owner);
	UNPACK(job, columns->op);
	UNPACK(job, columns->reason);
	UNPACK(job, columns->hit);
}

static void unpack_world(struct job *job)
{
	struct layout *layout = &job->input.world.layout;
	struct rows *rows = &job->input.world.rows;
	struct service_times *service = &job->input.world.service;

	UNPACK(job, layout->bytes);
	UNPACK(job, layout->first);
	UNPACK(job, layout->start);
	UNPACK(job, layout->length);
	UNPACK(job, rows->first);
	UNPACK(job, rows->think_ns);
	UNPACK(job, rows->sector);
	UNPACK(job, rows->cost_ns);
	UNPACK(job, rows->sectors);
	UNPACK(job, rows->owner);
	UNPACK(job, rows->op);
	UNPACK(job, job->input.world.resampling);
	UNPACK(job, service->start);
	UNPACK(job, service->phase);
	UNPACK(job, service->outcome);
}

static void unpack_input(struct job *job)
{
	struct sim_input *input = &job->input;

	UNPACK(job, input->tunables);
	UNPACK(job, input->parameters);
	UNPACK(job, input->drive);
	UNPACK(job, input->bundling);
	UNPACK(job, input->weight);
	UNPACK(job, input->io_class);
	UNPACK(job, input->level);
	UNPACK(job, input->columns);
	UNPACK(job, input->each);
	UNPACK(job, job->summary.counters);
	UNPACK(job, job->summary.prefetcher_counters);
	UNPACK(job, job->summary.replacer_counters);
	UNPACK(job, input->cache.policies.prefetcher_tunables);
	UNPACK(job, input->cache.policies.replacer_tunables);
	disk_moved(&job->drive.disk, job->address, job);
}

static void unpack_replay(struct job *job)
{
	struct replay *replay = &job->replay;

	UNPACK(job, replay->tunables);
	UNPACK(job, replay->counters);
	UNPACK(job, replay->calls);
}

void job_unpack(struct job *job, const struct parts *parts)
{
	unpack_input(job);
	unpack_world(job);
	unpack_columns(job);
	unpack_replay(job);
	UNPACK(job, job->paths);
	job->input.scheduler = parts->scheduler;
	job->input.cache.policies.prefetcher = parts->prefetcher;
	job->input.cache.policies.replacer = parts->replacer;
	job->input.workload = find_workload(job->workload);
	job->input.target = job->has_target ? target_ask : NULL;
	job->input.watch = &job->watch;
	job->replay.scheduler = parts->scheduler;
	job->replay.watch = &job->watch;
	job->replay.broken = job->summary.broken;
}
