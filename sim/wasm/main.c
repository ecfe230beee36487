// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../registry.h"
#include "../explain.h"
#include "../worker/describe.h"
#include "module.h"

#define EXPORT(name) __attribute__((export_name(#name)))

static struct module module;
static char text[DESCRIBE_BYTES];
static char words[EXPLAIN_BYTES];

u64 module_events(void)
{
	return module.watch.events;
}

EXPORT(text) char *wasm_text(void)
{
	return text;
}

EXPORT(count) u32 wasm_count(u32 kind)
{
	switch ((enum part_kind)kind) {
	case KIND_SCHEDULER:
		return scheduler_count();
	case KIND_PREFETCHER:
		return prefetcher_count();
	case KIND_REPLACER:
		return replacer_count();
	case KIND_WORKLOAD:
		return workload_count();
	}
	return 0;
}

/* Workloads declare only parameters, which are like tunables. */
static struct declaration declaration_of_workload(const struct workload *workload)
{
	return (struct declaration){
		.name = workload->name,
		.summary = workload->summary,
		.tunables = workload->parameters,
		.nr_tunables = workload->nr_parameters,
	};
}

static bool check(u32 kind, u32 index)
{
	switch ((enum part_kind)kind) {
	case KIND_SCHEDULER:
		return contract_check_declaration(scheduler_get(index), text);
	case KIND_PREFETCHER:
		return prefetch_check_declaration(prefetcher_get(index), text);
	case KIND_REPLACER:
		return replacement_check_declaration(replacer_get(index), text);
	case KIND_WORKLOAD:
		return true;
	}
	return false;
}

static struct declaration declaration_of(u32 kind, u32 index)
{
	switch ((enum part_kind)kind) {
	case KIND_SCHEDULER:
		return DECLARATION(scheduler_get(index));
	case KIND_PREFETCHER:
		return DECLARATION(prefetcher_get(index));
	case KIND_REPLACER:
		return DECLARATION(replacer_get(index));
	case KIND_WORKLOAD:
		break;
	}
	return declaration_of_workload(workload_get(index));
}

/*
 * Describe a part in the text (sim/worker/describe.h). False: the text says which rule of its
 * contract the declaration breaks.
 */
EXPORT(describe) bool wasm_describe(u32 kind, u32 index)
{
	struct declaration declaration;

	if (!check(kind, index))
		return false;
	declaration = declaration_of(kind, index);
	return !describe(&declaration,
			 kind == KIND_SCHEDULER && scheduler_get(index)->needs_model,
			 text, sizeof(text));
}

/* Forget the last simulation and its results. */
EXPORT(begin) void wasm_begin(void)
{
	module_free(&module);
	memset(&module, 0, sizeof(module));
	module.device.scale_milli = 1000;
	module.input.watch = &module.watch;
}

/* Choose a part; a declaration that wasm_describe() refuses must not be chosen. */
EXPORT(choose) void wasm_choose(u32 kind, u32 index)
{
	switch ((enum part_kind)kind) {
	case KIND_SCHEDULER:
		module.input.scheduler = scheduler_get(index);
		break;
	case KIND_PREFETCHER:
		module.input.cache.policies.prefetcher = prefetcher_get(index);
		break;
	case KIND_REPLACER:
		module.input.cache.policies.replacer = replacer_get(index);
		break;
	case KIND_WORKLOAD:
		module.input.workload = workload_get(index);
		break;
	}
}

/* Set the number that the text names; false if there is none, or the value does not fit. */
EXPORT(set) bool wasm_set(u64 value)
{
	return module_set(&module, text, value);
}

/* Return zeroed memory for the array that the text names, or NULL. */
EXPORT(array) void *wasm_array(u32 bytes)
{
	return module_array(&module, text, bytes);
}

/* Prepare the drive; return what is wrong with it, or NULL. */
static const char *set_drive(void)
{
	struct drive *drive = &module.device.drive;

	if (!drive->disk.capacity_sectors)
		return NULL;
	if (drive_check(drive))
		return "a curve or a time is not as core/drive/drive.h wants it";
	drive_reset(drive);
	module.input.drive = drive;
	return NULL;
}

/* Return whether the simulation has a result; if not, the text says why. */
EXPORT(run) bool wasm_run(void)
{
	const char *wrong = set_drive();
	int error;

	module.input.columns = module.columns.arrival_ns ? &module.columns : NULL;
	wrong = wrong ?: sim_check(&module.input, module.rows, module.extents);
	if (!wrong) {
		error = sim_run(&module.input, &module.summary);
		if (!error)
			return true;
		wrong = sim_explain(&module.input, &module.summary, error, words)
				?: "its init failed";
	}
	snprintf(text, sizeof(text), "%s", wrong);
	return false;
}

EXPORT(figures) void wasm_figures(void)
{
	module_write_figures(&module.summary, text, sizeof(text));
}
