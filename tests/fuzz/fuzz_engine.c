// SPDX-License-Identifier: MIT
/*
 * Turn bytes into the input of a simulation, with its arrays: any scheduler, workload and device,
 * mostly valid and now and then not.  Either sim_check names what is wrong, or the simulation runs,
 * ends as sim_run promises and leaves plausible rows.
 *
 * Every array has exactly the length that the input states, so that the sanitizer detects reads
 * past its end.  The work is limited: all processes together take at most STEPS_MAX steps.
 */
#include <string.h>

#include "../../core/least.h"
#include "../../sim/check.h"
#include "../../sim/registry.h"
#include "../core/policies.h"
#include "../core/schedulers.h"
#include "../core/check.h"

#define MS 1000000ull
#define STEPS_MAX 300
#define SAMPLES 6
#define SLIPS 4
#define ARRAYS_MAX 64
#define ARRAYS_FOR 1000 /* most processes or requests that get arrays */
#define BYTES_MAX (8u << 20)
#define FIELDS_MAX 32
#define EACH_FOR 16 /* most processes with figures of their own */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * struct program - the remaining bytes; zeros follow the last byte @odd_every: every so many
 * values, one may be invalid; 0: never @values: so far
 */
struct program {
	const u8 *byte;
	const u8 *end;
	u32 odd_every;
	u32 values;
};

/* The engine's input, results and arrays. */
struct given {
	struct sim_input input;
	struct sim_summary summary;
	struct sim_watch watch;
	struct sim_columns columns;
	struct drive drive;
	struct curve_point seek[SAMPLES], transfer[SAMPLES];
	struct track_zone zone[2];
	struct track_slip slip[SLIPS];
	u64 tunables[FIELDS_MAX], parameters[FIELDS_MAX], counters[FIELDS_MAX];
	u64 prefetcher_counters[FIELDS_MAX], replacer_counters[FIELDS_MAX];
	u64 rows, extents;
	struct bundling bundling;
	void *array[ARRAYS_MAX];
	u32 nr_arrays;
};

/* A workload whose processes end. */
static const struct workload *inner;
static u32 steps;

/* Return the workload whose requests may have several pieces. */
static const struct workload *customers(void)
{
	u32 i = 0;

	while (strcmp(workload_get(i)->name, "customers"))
		i++;
	return workload_get(i);
}

static bool limited_step(void *state, u32 process, struct step *step)
{
	return steps++ < STEPS_MAX && inner->step(state, process, step);
}

/* Values. */

static u32 take(struct program *program, u32 below)
{
	return program->byte < program->end ? *program->byte++ % below : 0;
}

/* Return a value of any size. */
static u64 take_any(struct program *program)
{
	u64 high = (u64)take(program, 256) << take(program, 57);

	return high + take(program, 256) - take(program, 4);
}

/* Return a value up to the limit; an odd value is of any size, or slightly above the limit. */
static u64 value(struct program *program, u64 limit)
{
	u64 any = take_any(program);

	program->values++;
	if (program->odd_every && program->values % program->odd_every == 0)
		return take(program, 2) ? any : limit + take(program, 256);
	return limit == U64_MAX ? any : any % (limit + 1);
}

static void *new_array(struct given *given, u64 entries, size_t size)
{
	void *array = calloc(entries, size);

	CHECK(given->nr_arrays < ARRAYS_MAX && (array || !entries));
	given->array[given->nr_arrays++] = array;
	return array;
}

static void free_arrays(struct given *given)
{
	while (given->nr_arrays)
		free(given->array[--given->nr_arrays]);
}

/* The parts of the input. */

static void fill_fields(struct program *program, const struct sched_field *fields,
			u32 count, u64 *to)
{
	u32 i;

	CHECK(count <= FIELDS_MAX);
	for (i = 0; i < count; i++)
		to[i] = take(program, 4)
				? fields[i].initial
				: fields[i].min +
					  value(program, fields[i].max - fields[i].min);
}

static void fill_choice(struct given *given, struct workload *workload,
			struct program *program)
{
	const struct scheduler *scheduler =
		scheduler_get(take(program, 256) % scheduler_count());

	inner = workload_get(take(program, 256) % workload_count());
	*workload = *inner;
	workload->step = limited_step;
	steps = 0;
	given->input = (struct sim_input){
		.scheduler = scheduler,
		.tunables = given->tunables,
		.workload = workload,
		.parameters = given->parameters,
		.watch = &given->watch,
	};
	given->summary.counters = given->counters;
	given->summary.prefetcher_counters = given->prefetcher_counters;
	given->summary.replacer_counters = given->replacer_counters;
	fill_fields(program, scheduler->tunables, scheduler->nr_tunables,
		    given->tunables);
	fill_fields(program, workload->parameters, workload->nr_parameters,
		    given->parameters);
}

static void fill_columns(struct given *given)
{
	struct sim_columns *columns = &given->columns;
	u64 n = given->input.requests;

	columns->arrival_ns = new_array(given, n, sizeof(s64));
	columns->dispatch_ns = new_array(given, n, sizeof(s64));
	columns->start_ns = new_array(given, n, sizeof(s64));
	columns->completion_ns = new_array(given, n, sizeof(s64));
	columns->sector = new_array(given, n, sizeof(s64));
	columns->request_id = new_array(given, n, sizeof(s64));
	columns->model_service_ns = new_array(given, n, sizeof(s64));
	columns->idle_ns = new_array(given, n, sizeof(s64));
	columns->sectors = new_array(given, n, sizeof(u32));
	columns->owner = new_array(given, n, sizeof(u32));
	columns->op = new_array(given, n, sizeof(u8));
	columns->reason = new_array(given, n, sizeof(u8));
	columns->hit = new_array(given, n, sizeof(u8));
	given->input.columns = columns;
}

static void fill_limits(struct given *given, struct program *program)
{
	struct sim_input *input = &given->input;

	input->max_pending = 1 + value(program, 255);
	input->merge_sectors = take(program, 2) * value(program, 1 << 16);
	input->gap_ns = take(program, 4) ? 0 : value(program, MS);
	input->ask_ns = take(program, 4) ? 0 : value(program, MS);
	input->requests = 1 + value(program, 255);
	if (input->requests <= ARRAYS_FOR)
		fill_columns(given);
}

static void fill_curve(struct curve *curve, struct curve_point *point,
		       struct program *program, u64 end, u64 max)
{
	u32 i;

	*curve = (struct curve){ 2 + take(program, 4), point };
	for (i = 0; i < curve->nr_points; i++) {
		point[i].at = port_mul_div(end, i, curve->nr_points - 1);
		point[i].value = value(program, max);
	}
	point[i - 1].at = value(program, 0) ?: end;
	curve->nr_points = nearer(value(program, 0) ?: curve->nr_points, SAMPLES);
}

static struct track_level draw_level(struct program *program, u64 tracks, u64 sectors)
{
	return (struct track_level){ tracks, tracks * sectors - value(program, sectors),
				     value(program, U64_MAX) };
}

/* Fill in tracks, mostly for the disk's rotation, in which case no latency is drawn. */
static void fill_tracks(struct given *given, struct program *program)
{
	struct drive *drive = &given->drive;
	u64 rotation_ns = drive->disk.rotation_ns;
	u64 capacity = drive->disk.capacity_sectors;
	u32 i;

	drive->disk.tracks = (struct tracks){
		.nr_zones = take(program, 3),
		.zone = given->zone,
		.nr_slips = take(program, SLIPS + 1),
		.slip = given->slip,
		.velocity = take(program, 3) ? U64_MAX / (rotation_ns ?: 1)
					     : value(program, 0),
		.step = value(program, 1 << 20),
	};
	for (i = 0; i < 2; i++) {
		u64 sectors = 1 + value(program, 500);
		u64 cylinder = 1 + value(program, 5);

		given->zone[i] = (struct track_zone){
			.first = i * capacity / 2,
			.sectors = sectors,
			.slot = U64_MAX / (sectors + 1 + value(program, 20)),
			.angle = value(program, U64_MAX),
			.skew = value(program, U64_MAX),
			.cylinder = draw_level(program, cylinder, sectors),
			.surfaces = value(program, 3),
		};
		if (take(program, 2))
			given->zone[i].band = draw_level(program, cylinder, sectors);
	}
	for (i = 0; i < SLIPS; i++)
		given->slip[i] =
			(struct track_slip){ capacity * i / SLIPS, value(program, 40) };
	if (drive->disk.tracks.velocity)
		drive->arm.random_phase = value(program, 0);
}

static void fill_buffer(struct drive *drive, struct program *program)
{
	drive->bus.sector_ps = value(program, 100 * MS);
	drive->bus.watermark_percent = value(program, 100);
	drive->bus.write_ns = value(program, MS);
	drive->writes.settle_ns = value(program, MS);
	drive->ahead.sectors = value(program, 500);
	drive->ahead.reach_sectors = value(program, 500);
	drive->ahead.to_track_end = take(program, 2);
	drive->ahead.overwrites = take(program, 2);
	drive->ahead.after_hit = take(program, 3);
	drive->ahead.segments.nr = value(program, 5);
	drive->ahead.segments.sectors = value(program, 300);
	drive->writes.spans_max = value(program, 5);
	drive->writes.sectors_max = value(program, 300);
	drive->writes.idle_ns = value(program, 50 * MS);
	drive->writes.order = take(program, 3);
}

static void fill_drive(struct given *given, struct program *program)
{
	struct drive *drive = &given->drive;
	u64 capacity = given->input.world.capacity_sectors;

	given->input.drive = drive;
	drive->disk.capacity_sectors = value(program, 0) ?: capacity;
	drive->disk.intercept_ns = value(program, 5 * MS);
	drive->disk.rotation_ns = value(program, 8 * MS);
	fill_curve(&drive->disk.seek, given->seek, program, capacity, 10 * MS);
	if (take(program, 2))
		fill_curve(&drive->disk.transfer, given->transfer, program, capacity,
			   100 * MS);
	drive->cache.segments = value(program, 16);
	drive->cache.segment_sectors = value(program, 300);
	drive->cache.prefetch_sectors = value(program, 100);
	drive->bus.hit_ns = value(program, MS);
	drive->buffered = take(program, 2);
	if (drive->buffered)
		fill_buffer(drive, program);
	drive->disk.switch_ns = value(program, MS);
	drive->arm.random_phase = take(program, 2);
	drive->arm.seed = take(program, 256);
	if (take(program, 2))
		fill_tracks(given, program);
	drive->queue_depth = value(program, 300);
	drive->queue_age_ns = value(program, 100 * MS);
}

static void fill_device(struct given *given, struct program *program)
{
	struct sim_input *input = &given->input;

	input->world.capacity_sectors = 1 + value(program, 100000);
	input->array = (struct array){
		.servers = 1 + value(program, 40),
		.mean_service_ns = value(program, 10 * MS),
		.exponential = take(program, 2),
	};
	input->depth = 1 + value(program, 50);
	if (take(program, 2))
		fill_drive(given, program);
	if (!input->drive || !take(program, 8))
		given->bundling = (struct bundling){
			.others = take(program, 2) * value(program, 8),
			.one_more = take(program, 2) * value(program, U64_MAX),
		};
}

/* Give most processes the input's bundling, and the others none. */
static void fill_bundling(struct given *given, struct program *program)
{
	u32 processes = given->input.world.processes;
	struct bundling *bundling;
	u32 i;

	if (!bundles(&given->bundling))
		return;
	bundling = new_array(given, processes, sizeof(*bundling));
	for (i = 0; i < processes; i++) {
		if (take(program, 4))
			bundling[i] = given->bundling;
	}
	given->input.bundling = bundling;
}

/* Fill in the outcomes of a phase; the last outcome takes the remaining probability. */
static void fill_outcomes(struct service_outcome *outcome, struct program *program,
			  u32 count, u32 phases)
{
	u32 i;

	for (i = 0; i < count; i++)
		outcome[i] = (struct service_outcome){
			.last = value(program, U64_MAX),
			.phase = value(program, phases - 1),
			.ends = take(program, 2),
		};
	outcome[count - 1].last = U64_MAX - value(program, 0);
}

static void fill_service(struct given *given, struct program *program)
{
	u32 processes = given->input.world.processes;
	u32 n = 1 + take(program, 4), each = 1 + take(program, 3);
	struct service_phase *phase = new_array(given, n, sizeof(*phase));
	struct service_outcome *outcome = new_array(given, n * each, sizeof(*outcome));
	u32 *start = new_array(given, processes, sizeof(*start));
	u32 i;

	for (i = 0; i < n; i++) {
		phase[i] = (struct service_phase){
			.mean = value(program, MS << SERVICE_TICK_BITS),
			.stages = value(program, 20),
			.first = value(program, 0) ?: i * each,
			.outcomes = value(program, 0) ?: each,
		};
		fill_outcomes(&outcome[i * each], program, each, n);
	}
	for (i = 0; i < processes; i++)
		start[i] = value(program, n - 1);
	given->input.world.service =
		(struct service_times){ n, n * each, start, phase, outcome };
}

static struct resampling *new_resampling(struct given *given, struct program *program)
{
	u32 i, processes = given->input.world.processes;
	struct resampling *each = new_array(given, processes, sizeof(*each));

	for (i = 0; i < processes; i++) {
		each[i].block = value(program, 6);
		each[i].pool_ns = value(program, 200 * MS);
		each[i].recorded = take(program, 2);
	}
	return each;
}

static void fill_arrivals(struct given *given, struct program *program)
{
	u32 processes = given->input.world.processes;
	struct arrivals *arrivals = new_array(given, processes, sizeof(*arrivals));
	u32 i, k, n = take(program, 20);
	u64 *at_ns = new_array(given, n, sizeof(*at_ns));
	u16 *pieces = new_array(given, n, sizeof(*pieces));

	for (k = 0; k < n; k++) {
		at_ns[k] = (k ? at_ns[k - 1] : 0) + value(program, 20 * MS);
		pieces[k] = 1 + value(program, 5);
	}
	for (i = 0; i < processes; i++)
		arrivals[i] = (struct arrivals){ n, at_ns, pieces, at_ns };
	if (take(program, 2))
		given->input.world.resampling = new_resampling(given, program);
	given->input.world.arrivals = arrivals;
	given->input.world.until_ns = value(program, 200 * MS);
	fill_service(given, program);
}

static void fill_classes(struct given *given, struct program *program)
{
	u32 processes = given->input.world.processes;
	u32 *weight = new_array(given, processes, sizeof(*weight));
	u8 *io_class = new_array(given, processes, sizeof(*io_class));
	u8 *level = new_array(given, processes, sizeof(*level));
	u32 i;

	for (i = 0; i < processes; i++) {
		weight[i] = 1 + value(program, 1000);
		io_class[i] = IO_CLASS_REALTIME + value(program, 2);
		level[i] = value(program, IO_LEVELS - 1);
	}
	given->input.weight = weight;
	given->input.io_class = io_class;
	given->input.level = level;
}

static void fill_rows(struct given *given, struct program *program)
{
	u64 capacity = given->input.world.capacity_sectors;
	u32 processes = given->input.world.processes;
	u64 n = given->rows = take(program, 100);
	u64 *first = new_array(given, processes + 1, sizeof(*first));
	u64 *think_ns = new_array(given, n, sizeof(*think_ns));
	u64 *sector = new_array(given, n, sizeof(*sector));
	u64 *cost_ns = new_array(given, n, sizeof(*cost_ns));
	u32 *sectors = new_array(given, n, sizeof(*sectors));
	u32 *owner = new_array(given, n, sizeof(*owner));
	u8 *op = new_array(given, n, sizeof(*op));
	u64 i;

	for (i = 1; i <= processes; i++)
		first[i] = value(program, 0) ?: n * i / processes;
	for (i = 0; i < n; i++) {
		think_ns[i] = value(program, 20 * MS);
		sector[i] = value(program, capacity - 1);
		cost_ns[i] = value(program, 20 * MS);
		sectors[i] = value(program, 0) ?: 1 + (capacity - sector[i]) / 2;
		owner[i] = take_any(program);
		op[i] = value(program, IO_WRITE);
	}
	given->input.world.rows =
		(struct rows){ first, think_ns, sector, cost_ns, sectors, owner, op };
}

static void fill_files(struct given *given, struct program *program)
{
	u64 capacity = given->input.world.capacity_sectors;
	u64 page_sectors = given->input.cache.page_sectors ?: 1;
	u32 files = take(program, 16);
	u64 each = 1 + take(program, 3);
	u64 n = given->extents = files * each;
	u64 *bytes = new_array(given, files, sizeof(*bytes));
	u64 *first = new_array(given, files + 1, sizeof(*first));
	u64 *start = new_array(given, n, sizeof(*start));
	u64 *length = new_array(given, n, sizeof(*length));
	u64 i;

	for (i = 0; i < n; i++) {
		start[i] = value(program, capacity / 2);
		length[i] = (1 + value(program, 15)) * page_sectors;
	}
	for (i = 0; i < files; i++) {
		first[i + 1] = value(program, 0) ?: (i + 1) * each;
		bytes[i] = 1 + value(program, 512 * page_sectors * each - 1);
	}
	given->input.world.layout =
		(struct layout){ files, bytes, first, start, length };
}

static void fill_world(struct given *given, struct program *program)
{
	struct sim_input *input = &given->input;

	if (take(program, 2))
		input->cache = (struct sim_cache){
			.bytes = 512 * (16 + value(program, 1000)),
			.page_sectors = 1 + value(program, 15),
			.read_ahead_pages = value(program, 40),
			.policies = policies_any(take(program, 256)),
		};
	input->world.seed = take(program, 256);
	input->world.processes = 1 + value(program, 10);
	if (input->world.processes > ARRAYS_FOR)
		return;
	if (input->world.processes <= EACH_FOR)
		input->each =
			new_array(given, input->world.processes, sizeof(*input->each));
	if (take(program, 2))
		fill_classes(given, program);
	fill_bundling(given, program);
	fill_rows(given, program);
	fill_arrivals(given, program);
	fill_files(given, program);
}

/* The results. */

static void check_row(const struct given *given, u64 i)
{
	const struct sim_columns *rows = &given->columns;

	CHECK(rows->arrival_ns[i] <= rows->dispatch_ns[i]);
	CHECK(rows->dispatch_ns[i] <= rows->start_ns[i]);
	CHECK_EQ(rows->start_ns[i] + rows->model_service_ns[i], rows->completion_ns[i]);
	CHECK(rows->sectors[i]);
	CHECK((u64)rows->sector[i] + rows->sectors[i] <=
	      given->input.world.capacity_sectors);
	CHECK(rows->op[i] < IO_OPS && rows->reason[i] < PICK_REASONS);
	CHECK(rows->hit[i] <= 1);
}

/* Check that a request has the id of its oldest row. */
static void check_id(const struct given *given, u64 i)
{
	const struct sim_columns *rows = &given->columns;
	u64 oldest = rows->request_id[i] - 1;

	CHECK(oldest <= i && rows->request_id[oldest] == rows->request_id[i]);
	CHECK_EQ(rows->completion_ns[oldest], rows->completion_ns[i]);
	CHECK(oldest == i || given->input.merge_sectors ||
	      (given->input.bundling && rows->owner[oldest] == rows->owner[i]));
}

/* Check rows; requests that had not completed when the run ended have none. */
static void check_rows(const struct given *given)
{
	u64 completed = 0;
	u64 i;

	for (i = 0; i < given->input.requests; i++) {
		if (!given->columns.request_id[i])
			continue;
		check_id(given, i);
		check_row(given, i);
		completed++;
	}
	CHECK_EQ(given->summary.completed, completed);
}

/*
 * The figures of all processes add up to the totals.  The mean over a request's pieces, rounded
 * down, may cover fewer requests, if not all pieces are measured.
 */
static void check_each(const struct given *given)
{
	const struct sim_process *each = given->input.each;
	unsigned __int128 sum = 0;
	u64 pieces = 0, count = 0;
	u32 i;

	for (i = 0; each && i < given->input.world.processes; i++) {
		CHECK_EQ(each[i].response.count, each[i].responses.count);
		pieces += each[i].pieces;
		count += each[i].response.count;
		sum += each[i].response.sum;
	}
	if (!each)
		return;
	CHECK_EQ(pieces, given->summary.completed);
	CHECK(count <= pieces && sum <= given->summary.response.sum);
	CHECK(inner == customers() ||
	      (count == pieces && sum == given->summary.response.sum));
}

static void check_end(const struct given *given, int error)
{
	switch (error) {
	case 0:
	case -ENOMEM:
	case -EOVERFLOW:
	case -ETIME:
	case -ENOENT:
	case -ENOSPC:
	case -EINVAL:
		break;
	case -EBADMSG:
		CHECK(inner == customers());
		break;
	case -ENODEV:
		CHECK(given->input.scheduler->needs_model && !given->input.drive);
		break;
	case -EOPNOTSUPP:
		CHECK(given->input.bundling && !given->input.scheduler->more);
		break;
	default: /* so few steps cause no other error */
		CHECK_EQ(error, 0);
	}
	CHECK(given->summary.completed <= given->input.requests);
	CHECK_EQ(given->summary.response.count, given->summary.completed);
	CHECK_EQ(given->summary.responses.count, given->summary.completed);
	check_each(given);
	if (given->input.columns)
		check_rows(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct given given;
	struct program program = { .byte = data, .end = data + size };
	struct workload workload;

	memset(&given, 0, sizeof(given));
	program.odd_every = 4 * take(&program, 256);
	fill_choice(&given, &workload, &program);
	fill_limits(&given, &program);
	fill_device(&given, &program);
	fill_world(&given, &program);
	port_limit(BYTES_MAX);
	if (!sim_check(&given.input, given.rows, given.extents))
		check_end(&given, sim_run(&given.input, &given.summary));
	port_limit(SIZE_MAX);
	free_arrays(&given);
	return 0;
}
