// SPDX-License-Identifier: MIT
/*
 * simulator SCHEDULER PROCESSES REQUESTS: simulates processes without think time that read 4 KiB at
 * random from a disk, and keeps no record of each request.  Prints the mean response time in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../sim/check.h"
#include "../../tests/core/schedulers.h"
#include "inputs.h"

#define CAPACITY (1ull << 21)

static struct drive drive;
static struct sim_summary summary;

static void set_drive(void)
{
	static struct curve_point line[2];

	disk_set_linear(&drive.disk, line, CAPACITY, 4250000, 5250000);
	drive.cache.segments = 64;
	drive.cache.segment_sectors = 221;
	drive.cache.prefetch_sectors = 64;
	drive.bus.hit_ns = 250000;
}

/* A separate function, so that its instructions can be counted. */
static __attribute__((noipa)) int run(const struct sim_input *input)
{
	return sim_run(input, &summary);
}

int main(int argc, char **argv)
{
	struct sim_watch watch = { 0 };
	struct sim_input input = {
		.scheduler = argc == 4 ? registry_find(argv[1]) : NULL,
		.tunables = tunables,
		.workload = find_workload("random"),
		.parameters = parameters,
		.world = { .capacity_sectors = CAPACITY, .seed = 1 },
		.drive = &drive,
		.depth = 1,
		.max_pending = 1024,
		.merge_sectors = 2560,
		.watch = &watch,
	};

	if (!input.scheduler)
		return 2;
	input.world.processes = atoi(argv[2]);
	input.requests = atoi(argv[3]);
	set_drive();
	set_initial(tunables, input.scheduler->tunables, input.scheduler->nr_tunables);
	set_initial(parameters, input.workload->parameters,
		    input.workload->nr_parameters);
	summary.counters = counters;
	if (sim_check(&input, 0, 0) || run(&input))
		return 1;
	printf("%.0f\n", moments_mean(&summary.response));
	return 0;
}
