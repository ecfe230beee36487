// SPDX-License-Identifier: MIT
/*
 * Invariants of every simulation, for any workload, scheduler and device.  Every
 * request is served once, with its instants in order.  The device never exceeds its
 * depth, the summary matches the rows, and the same input produces the same bytes.
 */
#include <math.h>
#include <string.h>

#include "simulation.h"

#define REQUESTS_MAX 300
#define PROCESSES_MAX 12
#define PENDING 1024

static struct simulation sim;
static struct sim_process each[PROCESSES_MAX];
static u32 weight[PROCESSES_MAX];
static u8 io_class[PROCESSES_MAX], level[PROCESSES_MAX];
static u64 merged_rows, bundled_rows, told, foreseen, rejoined;

/* All processes share one class, since CFQ starves lower classes by design. */
static void random_classes(struct draw *draw)
{
	u8 of_all = IO_CLASS_REALTIME + draw_below(draw, 3);
	u32 i;

	for (i = 0; i < PROCESSES_MAX; i++) {
		weight[i] = 1 + draw_below(draw, 1000);
		io_class[i] = of_all;
		level[i] = draw_below(draw, IO_LEVELS);
	}
	sim.input.weight = weight;
	sim.input.io_class = io_class;
	sim.input.level = level;
}

/* All processes share one bundling, or each has its own. */
static void random_bundling(struct draw *draw)
{
	bool of_all = draw_below(draw, 2);
	u32 i;

	for (i = 0; i < PROCESSES_MAX; i++) {
		sim.bundling[i] = (struct bundling){
			.others = draw_below(draw, 4),
			.one_more = draw_below(draw, 2) * draw_u64(draw),
		};
		if (of_all)
			sim.bundling[i] = sim.bundling[0];
	}
	sim.input.bundling = sim.bundling;
}

static void random_device(struct draw *draw)
{
	if (!sim.input.scheduler->needs_model && draw_below(draw, 2))
		simulation_array(&sim, 1 + draw_below(draw, 8),
				 (1 + draw_below(draw, 3)) * MS, draw_below(draw, 2));
	if (!sim.input.drive && sim.input.scheduler->more && draw_below(draw, 2))
		random_bundling(draw);
	if (bundles_any(sim.input.bundling, sim.input.world.processes))
		sim.input.merge_sectors = 0;
	if (!draw_below(draw, 3))
		sim.drive.cache.segments = 0;
	if (draw_below(draw, 2))
		sim.input.depth += draw_below(draw, 10);
	if (draw_below(draw, 2)) {
		sim.drive.queue_depth = draw_below(draw, 12);
		sim.drive.queue_age_ns = draw_below(draw, 50 * MS);
	}
	if (!draw_below(draw, 3))
		sim.input.gap_ns = draw_below(draw, 2 * MS);
	if (!draw_below(draw, 3))
		sim.input.ask_ns = draw_below(draw, 2 * MS);
}

static u64 sectors_of_files(void)
{
	u64 sectors = 0;
	u32 i;

	for (i = 0; i < sim.extents; i++)
		sectors += sim.length[i];
	return sectors;
}

/* The page cache holds less than half of the files, so that the disk has work to do. */
static void random_page_cache(struct draw *draw)
{
	static const u32 page_sectors[] = { 1, 2, 8, 16 };
	u32 sectors = page_sectors[draw_below(draw, ARRAY_SIZE(page_sectors))];

	simulation_files(&sim, draw, PROCESSES_MAX + draw_below(draw, 30),
			 sectors < 8 ? 8 : sectors);
	if (draw_below(draw, 3))
		sim.input.cache = (struct sim_cache){
			.bytes = 512 *
				 (sectors + draw_below(draw, sectors_of_files() / 2)),
			.page_sectors = sectors,
			.read_ahead_pages = draw_below(draw, 33),
			.policies = draw_below(draw, 4)
					    ? sim.input.cache.policies
					    : policies_any(draw_below(draw, 1000)),
		};
}

static void random_input(struct draw *draw, const struct scheduler *scheduler,
			 const struct workload *workload)
{
	simulation_exit(&sim);
	simulation_init(&sim, scheduler, workload);
	sim.input.requests = 1 + draw_below(draw, REQUESTS_MAX);
	sim.input.world.processes = 1 + draw_below(draw, PROCESSES_MAX);
	sim.input.world.seed = draw_u64(draw);
	sim.input.max_pending = PENDING;
	sim.input.merge_sectors = draw_below(draw, 2) * draw_below(draw, 100);
	random_device(draw);
	random_page_cache(draw);
	simulation_rows(&sim, draw, 40);
	simulation_customers(&sim, draw, 20);
	if (draw_below(draw, 2))
		sim.input.each = memset(each, 0, sizeof(each));
	if (draw_below(draw, 2))
		random_classes(draw);
	if (!strcmp(workload->name, "poisson"))
		simulation_set(&sim, "mean_gap_ns",
			       sim.input.world.processes * (8 + draw_below(draw, 20)) *
				       MS);
	if (!strcmp(workload->name, "random"))
		simulation_set(&sim, "writes_percent", draw_below(draw, 101));
}

/* Return whether row i is the oldest of its request, whose id it has. */
static bool is_oldest(u64 i)
{
	return sim.columns.request_id[i] == (s64)i + 1;
}

/* Check that the rows of one request are adjacent on disk and agree in all other columns. */
static void check_merged(u64 i)
{
	const struct sim_columns *rows = &sim.columns;
	u64 oldest = rows->request_id[i] - 1;
	s64 sectors = 0, first = rows->sector[i], end = 0;
	u64 k;

	CHECK(oldest < i && is_oldest(oldest));
	CHECK(sim.input.merge_sectors || sim.input.bundling);
	CHECK_EQ(rows->dispatch_ns[i], rows->dispatch_ns[oldest]);
	CHECK_EQ(rows->completion_ns[i], rows->completion_ns[oldest]);
	CHECK_EQ(rows->model_service_ns[i], rows->model_service_ns[oldest]);
	CHECK_EQ(rows->reason[i], rows->reason[oldest]);
	CHECK_EQ(rows->hit[i], rows->hit[oldest]);
	if (!sim.input.merge_sectors) {
		CHECK_EQ(rows->owner[i], rows->owner[oldest]);
		CHECK(bundles(&sim.bundling[rows->owner[i]]));
		bundled_rows++;
		return;
	}
	CHECK_EQ(rows->op[i], rows->op[oldest]);
	for (k = 0; k < sim.summary.completed; k++) {
		if (rows->request_id[k] != rows->request_id[i])
			continue;
		sectors += rows->sectors[k];
		if (rows->sector[k] < first)
			first = rows->sector[k];
		if (rows->sector[k] + rows->sectors[k] > end)
			end = rows->sector[k] + rows->sectors[k];
	}
	CHECK(sectors <= (s64)sim.input.merge_sectors);
	CHECK(sectors <= end - first);
	merged_rows++;
}

/* Check that every row was written, by the request that arrived in that place. */
static void check_rows(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 i;

	CHECK(sim.summary.completed <= sim.input.requests);
	for (i = 0; i < sim.summary.completed; i++) {
		if (!is_oldest(i))
			check_merged(i);
		CHECK(rows->arrival_ns[i] >= (i ? rows->arrival_ns[i - 1] : 0));
		CHECK(rows->sector[i] + rows->sectors[i] <= (s64)SIM_CAPACITY);
		CHECK(rows->owner[i] < sim.input.world.processes);
		CHECK(rows->op[i] < IO_OPS && rows->reason[i] < PICK_REASONS);
		CHECK(rows->hit[i] <= 1);
	}
	for (; i < sim.input.requests; i++)
		CHECK_EQ(rows->hit[i], SIM_UNWRITTEN);
}

static void check_instants(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 i;

	for (i = 0; i < sim.summary.completed; i++) {
		CHECK(rows->arrival_ns[i] <= rows->dispatch_ns[i]);
		CHECK(rows->dispatch_ns[i] <= rows->start_ns[i]);
		CHECK_EQ(rows->start_ns[i] + rows->model_service_ns[i],
			 rows->completion_ns[i]);
		CHECK(rows->idle_ns[i] >= 0 &&
		      rows->idle_ns[i] <= rows->dispatch_ns[i]);
		if (sim.input.depth <= (sim.input.drive ? 1 : sim.input.array.servers))
			CHECK_EQ(rows->start_ns[i], rows->dispatch_ns[i]);
	}
}

/* Count the requests that are between two of their instants when request i enters. */
static u32 inside(const s64 *from_ns, const s64 *to_ns, u64 i)
{
	u32 n = 0;
	u64 k;

	for (k = 0; k < sim.summary.completed; k++)
		n += is_oldest(k) && from_ns[k] <= from_ns[i] && from_ns[i] < to_ns[k];
	return n;
}

static void check_depth(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 i;

	for (i = 0; i < sim.summary.completed; i++)
		CHECK(inside(rows->dispatch_ns, rows->completion_ns, i) <=
		      sim.input.depth);
}

/*
 * Check the gap after each completion, except for requests that take no time, since
 * others were dispatched with them.
 */
static void check_pairs(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 i, k;

	for (i = 0; i < sim.summary.completed; i++) {
		for (k = 0; k < sim.summary.completed; k++) {
			s64 since_ns = rows->dispatch_ns[i] - rows->completion_ns[k];

			CHECK(since_ns < 0 || since_ns >= (s64)sim.input.gap_ns ||
			      !rows->model_service_ns[k]);
		}
	}
}

/* Check that a closed process sends its next request only after all previous responses. */
static void check_closed(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 i, k;

	if (sim.input.workload->open || sim.input.cache.bytes)
		return;
	for (i = 0; i < sim.summary.completed; i++) {
		for (k = 0; k < i; k++) {
			if (rows->owner[i] == rows->owner[k] &&
			    rows->arrival_ns[i] != rows->arrival_ns[k])
				CHECK(rows->arrival_ns[i] >=
				      rows->completion_ns[k] + (s64)sim.input.ask_ns);
		}
	}
}

static void check_order_of_arrival(void)
{
	const struct sim_columns *rows = &sim.columns;
	s64 latest_ns = 0;
	u64 i;

	if (strcmp(sim.input.scheduler->name, "fcfs"))
		return;
	for (i = 0; i < sim.summary.completed; i++) {
		if (!is_oldest(i))
			continue;
		CHECK(rows->dispatch_ns[i] >= latest_ns);
		latest_ns = rows->dispatch_ns[i];
	}
}

/* Check moments over all rows, or over all requests. */
static void check_moments(const struct moments *moments, const s64 *from_ns,
			  const s64 *to_ns, bool of_requests)
{
	struct moments want = { 0 };
	u64 i;

	for (i = 0; i < sim.summary.completed; i++)
		if (!of_requests || is_oldest(i))
			moments_add(&want, to_ns[i] - (from_ns ? from_ns[i] : 0));
	CHECK(!memcmp(moments, &want, sizeof(want)));
}

static void check_summary(void)
{
	const struct sim_columns *rows = &sim.columns;
	const struct sim_summary *summary = &sim.summary;
	u64 n = summary->completed;
	u64 sectors = 0, requests = 0, hits = 0, predicted_hits = 0;
	u64 reason[PICK_REASONS] = { 0 };
	s64 last_ns = 0;
	u64 i;

	for (i = 0; i < n; i++) {
		sectors += rows->sectors[i];
		requests += is_oldest(i);
		hits += is_oldest(i) && rows->hit[i];
		predicted_hits +=
			is_oldest(i) && rows->hit[i] && rows->reason[i] == PICK_HIT;
		reason[rows->reason[i]] += is_oldest(i);
		if (rows->completion_ns[i] > last_ns)
			last_ns = rows->completion_ns[i];
	}
	for (i = 0; i < PICK_REASONS; i++)
		CHECK_EQ(summary->reason[i], reason[i]);
	CHECK_EQ(summary->sectors, sectors);
	CHECK_EQ(summary->hits, hits);
	CHECK_EQ(summary->predicted, reason[PICK_HIT]);
	CHECK_EQ(summary->predicted_hits, predicted_hits);
	foreseen += predicted_hits;
	CHECK_EQ(summary->last_completion_ns, last_ns);
	CHECK_EQ(summary->first_arrival_ns, n ? rows->arrival_ns[0] : 0);
	CHECK_EQ(summary->last_arrival_ns, n ? rows->arrival_ns[n - 1] : 0);
	check_moments(&summary->response, rows->arrival_ns, rows->completion_ns, false);
	check_moments(&summary->device, rows->dispatch_ns, rows->completion_ns, true);
	check_moments(&summary->model, NULL, rows->model_service_ns, true);
	CHECK_EQ(summary->service.count, requests);
	CHECK(summary->service.sum <= summary->device.sum);
	CHECK_EQ(summary->responses.count, n);
	CHECK_EQ(sim.watch.completed, n);
}

/* Return how many pieces a process' request has; 1 unless it was split. */
static u64 pieces_of(u32 process, u64 request)
{
	if (strcmp(sim.input.workload->name, "customers"))
		return 1;
	CHECK(request < sim.arrivals[process].count);
	return sim.arrivals[process].pieces[request];
}

/*
 * Check a process' response times: for a split request, the mean of its pieces' times,
 * rounded down.
 */
static void check_process(u32 process)
{
	const struct sim_columns *rows = &sim.columns;
	struct moments want = { 0 };
	u64 pieces = 0, request = 0, done = 0, sum_ns = 0;
	u64 i;

	for (i = 0; i < sim.summary.completed; i++) {
		if (rows->owner[i] != process)
			continue;
		pieces++;
		sum_ns += rows->completion_ns[i] - rows->arrival_ns[i];
		if (++done < pieces_of(process, request))
			continue;
		rejoined += done > 1;
		moments_add(&want, sum_ns / done);
		request++;
		done = sum_ns = 0;
	}
	CHECK_EQ(each[process].pieces, pieces);
	CHECK_EQ(each[process].responses.count, want.count);
	CHECK(!memcmp(&each[process].response, &want, sizeof(want)));
}

static void check_each(void)
{
	u32 i;

	for (i = 0; sim.input.each && i < sim.input.world.processes; i++)
		check_process(i);
}

/*
 * Return whether the rows alone show the device's history.  They do if all requests to
 * the device are measured, take time, and end at distinct instants.
 */
static bool rows_tell_all(void)
{
	const struct sim_columns *rows = &sim.columns;
	u64 n = sim.summary.completed;
	u64 i, k;

	if (n == sim.input.requests)
		return false;
	for (i = 0; i < n; i++) {
		if (!rows->model_service_ns[i])
			return false;
		for (k = 0; k < i; k++) {
			if (rows->completion_ns[i] == rows->completion_ns[k] &&
			    rows->request_id[i] != rows->request_id[k])
				return false;
		}
	}
	return true;
}

/* Return the latest completion up to by_ns, or 0. */
static s64 last_end_ns(s64 by_ns)
{
	const struct sim_columns *rows = &sim.columns;
	s64 last_ns = 0;
	u64 k;

	for (k = 0; k < sim.summary.completed; k++) {
		if (rows->completion_ns[k] <= by_ns && rows->completion_ns[k] > last_ns)
			last_ns = rows->completion_ns[k];
	}
	return last_ns;
}

/* If several requests reach the idle device at one instant, the first ends its idle time. */
static void check_idle(u64 i)
{
	const struct sim_columns *rows = &sim.columns;
	s64 at_ns = rows->dispatch_ns[i];
	s64 idle_ns = 0;
	bool busy = false;
	u64 k;

	for (k = 0; k < sim.summary.completed; k++) {
		busy |= rows->dispatch_ns[k] < at_ns && at_ns < rows->completion_ns[k];
		if (is_oldest(k) && rows->dispatch_ns[k] == at_ns)
			idle_ns += rows->idle_ns[k];
	}
	CHECK_EQ(idle_ns, busy ? 0 : at_ns - last_end_ns(at_ns));
}

/* Check the sums of completion - max(dispatch, previous completion) and of its square. */
static void check_idle_and_service(void)
{
	const struct sim_columns *rows = &sim.columns;
	double sum = 0, squares = 0;
	u64 i;

	if (!rows_tell_all())
		return;
	for (i = 0; i < sim.summary.completed; i++) {
		s64 end_ns = rows->completion_ns[i];
		s64 before_ns = last_end_ns(end_ns - 1);
		s64 from_ns = rows->dispatch_ns[i];

		check_idle(i);
		if (!is_oldest(i))
			continue;
		from_ns = from_ns > before_ns ? from_ns : before_ns;
		sum += (double)(end_ns - from_ns);
		squares += pow((double)(end_ns - from_ns), 2);
	}
	CHECK(fabs((double)sim.summary.service.sum - sum) <= 1e-9 * sum);
	CHECK(fabs((double)sim.summary.service.squares - squares) <= 1e-9 * squares);
	told += sim.summary.completed;
}

static void check_everything(void)
{
	check_rows();
	check_instants();
	check_depth();
	check_pairs();
	check_closed();
	check_order_of_arrival();
	check_summary();
	check_each();
	check_idle_and_service();
}

static bool same(const void *a, const void *b, size_t size)
{
	return !memcmp(a, b, size * sim.input.requests);
}

static bool same_columns(const struct sim_columns *a, const struct sim_columns *b)
{
	return same(a->arrival_ns, b->arrival_ns, sizeof(s64)) &&
	       same(a->dispatch_ns, b->dispatch_ns, sizeof(s64)) &&
	       same(a->start_ns, b->start_ns, sizeof(s64)) &&
	       same(a->completion_ns, b->completion_ns, sizeof(s64)) &&
	       same(a->sector, b->sector, sizeof(s64)) &&
	       same(a->request_id, b->request_id, sizeof(s64)) &&
	       same(a->model_service_ns, b->model_service_ns, sizeof(s64)) &&
	       same(a->idle_ns, b->idle_ns, sizeof(s64)) &&
	       same(a->sectors, b->sectors, sizeof(u32)) &&
	       same(a->owner, b->owner, sizeof(u32)) &&
	       same(a->op, b->op, sizeof(u8)) &&
	       same(a->reason, b->reason, sizeof(u8)) &&
	       same(a->hit, b->hit, sizeof(u8));
}

/* Check that a second run gives the same result, even without rows. */
static void check_repeats(void)
{
	static struct sim_summary before;
	struct simulation other;

	before = sim.summary;
	other.columns = sim.columns;
	memset(&sim.columns, 0, sizeof(sim.columns));
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK(same_columns(&sim.columns, &other.columns));
	CHECK(!memcmp(&before, &sim.summary, sizeof(before)));
	simulation_exit(&other);

	memset(&sim.summary, 0, sizeof(sim.summary));
	simulation_set_counters(&sim);
	sim.input.columns = NULL;
	CHECK_EQ(sim_run(&sim.input, &sim.summary), 0);
	CHECK(!memcmp(&before, &sim.summary, sizeof(before)));
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 pieces_of_all(void)
{
	u64 pieces = 0;
	u32 process;
	u64 i;

	for (process = 0; process < sim.input.world.processes; process++) {
		for (i = 0; i < sim.arrivals[process].count; i++)
			pieces += sim.arrivals[process].pieces[i];
	}
	return pieces;
}

/*
 * Check that an endless workload runs until all requests are measured, and a table
 * until its end.
 */
static void check_count(void)
{
	const char *name = sim.input.workload->name;

	if (!strncmp(name, "rows-", 5))
		CHECK_EQ(sim.summary.completed, smaller(sim.rows, sim.input.requests));
	else if (!strcmp(name, "customers"))
		CHECK_EQ(sim.summary.completed,
			 smaller(pieces_of_all(), sim.input.requests));
	else if (strcmp(name, "concurrent-read"))
		CHECK_EQ(sim.summary.completed, sim.input.requests);
}

static void random_case(struct draw *draw)
{
	u32 i, k;

	for (i = 0; i < scheduler_count(); i++) {
		for (k = 0; k < workload_count(); k++) {
			random_input(draw, scheduler_get(i), workload_get(k));
			CHECK_EQ(simulation_run(&sim), 0);
			check_everything();
			check_count();
			check_repeats();
		}
	}
}

int main(void)
{
	check_seeds(20, random_case);
	CHECK(getenv("CHECK_SEED") ||
	      (merged_rows > 1000 && bundled_rows > 100 && rejoined > 1000 &&
	       told > 10000 && foreseen > 100 && rejoined > 1000));
	simulation_exit(&sim);
	return 0;
}
