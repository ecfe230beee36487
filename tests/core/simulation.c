// SPDX-License-Identifier: MIT
#include <string.h>

#include "simulation.h"

const struct workload *simulation_workload(const char *name)
{
	u32 i = 0;

	while (i < workload_count() && strcmp(workload_get(i)->name, name))
		i++;
	CHECK(i < workload_count());
	return workload_get(i);
}

static void set_initial(u64 *value, const struct sched_field *fields, u32 count)
{
	u32 i;

	CHECK(count <= FIELDS_MAX);
	for (i = 0; i < count; i++)
		value[i] = fields[i].initial;
}

void simulation_set_counters(struct simulation *sim)
{
	sim->summary.counters = sim->counters;
	sim->summary.prefetcher_counters = sim->prefetcher_counters;
	sim->summary.replacer_counters = sim->replacer_counters;
}

void simulation_init(struct simulation *sim, const struct scheduler *scheduler,
		     const struct workload *workload)
{
	memset(sim, 0, sizeof(*sim));
	disk_set_linear(&sim->drive.disk, sim->line, SIM_CAPACITY, 1 * MS, 5 * MS);
	sim->drive.cache.segments = 8;
	sim->drive.cache.segment_sectors = 64;
	sim->drive.cache.prefetch_sectors = 16;
	sim->drive.bus.hit_ns = 100 * US;
	simulation_set_counters(sim);
	sim->input = (struct sim_input){
		.scheduler = scheduler,
		.tunables = sim->tunables,
		.workload = workload,
		.parameters = sim->parameters,
		.world = { .capacity_sectors = SIM_CAPACITY,
			   .seed = 1,
			   .processes = 4 },
		.drive = &sim->drive,
		.depth = 1,
		.max_pending = 256,
		.requests = 100,
		.cache = { .policies = policies_named("doubling", "lru") },
		.watch = &sim->watch,
	};
	set_initial(sim->tunables, scheduler->tunables, scheduler->nr_tunables);
	set_initial(sim->parameters, workload->parameters, workload->nr_parameters);
	CHECK(scheduler->nr_counters <= FIELDS_MAX);
}

void simulation_array(struct simulation *sim, u32 servers, u64 mean_service_ns,
		      bool exponential)
{
	sim->input.drive = NULL;
	sim->input.array = (struct array){ servers, mean_service_ns, exponential };
	sim->input.depth = servers;
}

static bool set(u64 *value, const struct sched_field *fields, u32 count,
		const char *name, u64 to)
{
	u32 i = 0;

	while (i < count && strcmp(fields[i].name, name))
		i++;
	if (i < count)
		value[i] = to;
	return i < count;
}

void simulation_set(struct simulation *sim, const char *name, u64 value)
{
	const struct scheduler *scheduler = sim->input.scheduler;
	const struct workload *workload = sim->input.workload;

	CHECK(set(sim->parameters, workload->parameters, workload->nr_parameters, name,
		  value) ||
	      set(sim->tunables, scheduler->tunables, scheduler->nr_tunables, name,
		  value));
}

static void random_file(struct simulation *sim, struct draw *draw, u32 file,
			u32 page_sectors)
{
	u32 pieces = 1 + draw_below(draw, SIM_EXTENTS_MAX / SIM_FILES_MAX);
	u64 pages = 0;

	sim->first_extent[file] = sim->extents;
	for (; pieces; pieces--, sim->extents++) {
		u64 long_pages = 1 + draw_below(draw, 12);

		pages += long_pages;
		sim->length[sim->extents] = long_pages * page_sectors;
		sim->start[sim->extents] =
			draw_below(draw, sim->input.world.capacity_sectors + 1 -
						 sim->length[sim->extents]);
	}
	sim->bytes[file] = (pages - 1) * page_sectors * 512 + 1 +
			   draw_below(draw, page_sectors * 512);
}

void simulation_files(struct simulation *sim, struct draw *draw, u32 files,
		      u32 page_sectors)
{
	u32 file;

	CHECK(files <= SIM_FILES_MAX);
	sim->extents = 0;
	for (file = 0; file < files; file++)
		random_file(sim, draw, file, page_sectors);
	sim->first_extent[files] = sim->extents;
	sim->input.world.layout = (struct layout){
		.files = files,
		.bytes = sim->bytes,
		.first = sim->first_extent,
		.start = sim->start,
		.length = sim->length,
	};
}

static void random_row(struct simulation *sim, struct draw *draw, u32 process)
{
	u64 i = sim->rows++;

	sim->think_ns[i] = draw_below(draw, 3) ? draw_below(draw, 20 * MS) : 0;
	sim->sectors[i] = 1 + draw_below(draw, 16);
	sim->sector[i] = draw_below(draw, sim->input.world.capacity_sectors + 1 -
						  sim->sectors[i]);
	sim->cost_ns[i] = draw_below(draw, 2) ? draw_below(draw, 5 * MS) : 0;
	sim->owner[i] = process;
	sim->op[i] = draw_below(draw, IO_OPS);
}

void simulation_rows(struct simulation *sim, struct draw *draw, u32 rows_each)
{
	u32 processes = sim->input.world.processes;
	u32 process, i;

	CHECK(processes <= SIM_PROCESSES_MAX && processes * rows_each <= SIM_ROWS_MAX);
	sim->rows = 0;
	for (process = 0; process < processes; process++) {
		sim->first_row[process] = sim->rows;
		for (i = draw_below(draw, rows_each + 1); i; i--)
			random_row(sim, draw, process);
	}
	sim->first_row[processes] = sim->rows;
	sim->input.world.rows = (struct rows){
		.first = sim->first_row,
		.think_ns = sim->think_ns,
		.sector = sim->sector,
		.cost_ns = sim->cost_ns,
		.sectors = sim->sectors,
		.owner = sim->owner,
		.op = sim->op,
	};
}

/*
 * Set two phases, one with three stages.  After each phase, a service time may end or continue in
 * either phase.
 */
static void set_service(struct simulation *sim)
{
	u64 ms = MS << SERVICE_TICK_BITS;
	u32 process;

	sim->phase[0] = (struct service_phase){ .first = 0, .outcomes = 2 };
	sim->phase[1] = (struct service_phase){ ms, 1, 2, 3, 0 };
	sim->phase[2] = (struct service_phase){ ms / 4, 3, 5, 2, 0 };
	sim->outcome[0] = (struct service_outcome){ U64_MAX / 3, 1, 0 };
	sim->outcome[1] = (struct service_outcome){ U64_MAX, 2, 0 };
	sim->outcome[2] = (struct service_outcome){ U64_MAX / 4, 2, 0 };
	sim->outcome[3] = (struct service_outcome){ U64_MAX / 2, 1, 1 };
	sim->outcome[4] = (struct service_outcome){ U64_MAX, 2, 1 };
	sim->outcome[5] = (struct service_outcome){ U64_MAX / 3 * 2, 2, 1 };
	sim->outcome[6] = (struct service_outcome){ U64_MAX, 1, 0 };
	for (process = 0; process < SIM_PROCESSES_MAX; process++)
		sim->first_phase[process] = process % 3;
	sim->input.world.service = (struct service_times){
		.phases = 3,
		.outcomes = 7,
		.start = sim->first_phase,
		.phase = sim->phase,
		.outcome = sim->outcome,
	};
}

void simulation_customers(struct simulation *sim, struct draw *draw, u32 rows_each)
{
	u32 processes = sim->input.world.processes;
	u32 process, row = 0;

	CHECK(processes <= SIM_PROCESSES_MAX && processes * rows_each <= SIM_ROWS_MAX);
	set_service(sim);
	for (process = 0; process < processes; process++) {
		u64 count = draw_below(draw, rows_each + 1);
		u64 at_ns = 0;

		sim->arrivals[process] = (struct arrivals){ count, &sim->at_ns[row],
							    &sim->pieces[row], NULL };
		for (; count; count--, row++) {
			at_ns += draw_below(draw, 3) ? draw_below(draw, 20 * MS) : 0;
			sim->at_ns[row] = at_ns;
			sim->pieces[row] = 1 + draw_below(draw, 3);
		}
	}
	sim->input.world.arrivals = sim->arrivals;
	sim->input.world.until_ns = U64_MAX;
}

void simulation_bundle(struct simulation *sim, struct bundling bundling)
{
	u32 i;

	for (i = 0; i < SIM_PROCESSES_MAX; i++)
		sim->bundling[i] = bundling;
	sim->input.bundling = sim->bundling;
}

const char *simulation_check(const struct simulation *sim)
{
	return sim_check(&sim->input, sim->rows, sim->extents);
}

static void *new_column(u64 rows, size_t size)
{
	void *column = malloc(rows * size);

	CHECK(column);
	return memset(column, SIM_UNWRITTEN, rows * size);
}

static void new_columns(struct simulation *sim)
{
	struct sim_columns *columns = &sim->columns;
	u64 n = sim->input.requests;

	columns->arrival_ns = new_column(n, sizeof(s64));
	columns->dispatch_ns = new_column(n, sizeof(s64));
	columns->start_ns = new_column(n, sizeof(s64));
	columns->completion_ns = new_column(n, sizeof(s64));
	columns->sector = new_column(n, sizeof(s64));
	columns->request_id = new_column(n, sizeof(s64));
	columns->model_service_ns = new_column(n, sizeof(s64));
	columns->idle_ns = new_column(n, sizeof(s64));
	columns->sectors = new_column(n, sizeof(u32));
	columns->owner = new_column(n, sizeof(u32));
	columns->op = new_column(n, sizeof(u8));
	columns->reason = new_column(n, sizeof(u8));
	columns->hit = new_column(n, sizeof(u8));
	sim->input.columns = columns;
}

int simulation_run(struct simulation *sim)
{
	const char *wrong = simulation_check(sim);

	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	CHECK(!wrong);
	simulation_exit(sim);
	new_columns(sim);
	memset(&sim->summary, 0, sizeof(sim->summary));
	simulation_set_counters(sim);
	return sim_run(&sim->input, &sim->summary);
}

void simulation_exit(struct simulation *sim)
{
	struct sim_columns *columns = &sim->columns;

	free(columns->arrival_ns);
	free(columns->dispatch_ns);
	free(columns->start_ns);
	free(columns->completion_ns);
	free(columns->sector);
	free(columns->request_id);
	free(columns->model_service_ns);
	free(columns->idle_ns);
	free(columns->sectors);
	free(columns->owner);
	free(columns->op);
	free(columns->reason);
	free(columns->hit);
	memset(columns, 0, sizeof(*columns));
}
