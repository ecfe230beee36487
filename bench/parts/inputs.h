/* SPDX-License-Identifier: MIT */
/* Inputs for the simulator in the benchmarks. */
#ifndef UNDERSTUDY_BENCH_INPUTS_H
#define UNDERSTUDY_BENCH_INPUTS_H

#include <string.h>

#include "../../sim/registry.h"

#define FIELDS_MAX 32

static u64 tunables[FIELDS_MAX], parameters[FIELDS_MAX], counters[FIELDS_MAX];

static const struct workload *find_workload(const char *name)
{
	u32 i = 0;

	while (strcmp(workload_get(i)->name, name))
		i++;
	return workload_get(i);
}

static void set_initial(u64 *value, const struct sched_field *fields, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		value[i] = fields[i].initial;
}

#endif
