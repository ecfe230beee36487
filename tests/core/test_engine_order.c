// SPDX-License-Identifier: MIT
/*
 * Which call comes when: small runs in which every instant is known, and FCFS against a
 * queue calculated by hand.
 */
#include <string.h>

#include "../../core/fifo.h"
#include "simulation.h"

static struct simulation sim;

/*
 * A scheduler that records its calls.  It serves in order of arrival, and holds every
 * request back for hold_ns.
 */
enum call { ADD, NEXT, MORE, NONE, COMPLETED };

static struct entry {
	enum call call;
	u64 now_ns;
	u64 id;
} calls[64];
static u32 nr_calls;

struct scribe {
	u64 hold_ns;
	struct fifo pending;
};

static void note(enum call call, u64 now_ns, u64 id)
{
	CHECK(nr_calls < ARRAY_SIZE(calls));
	calls[nr_calls++] = (struct entry){ call, now_ns, id };
}

static void scribe_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct scribe *scribe = state;

	note(ADD, now_ns, rq->id);
	CHECK_EQ(rq->arrival_ns, now_ns);
	fifo_add(&scribe->pending, rq);
}

static struct io_request *scribe_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct scribe *scribe = state;
	struct io_request *rq = scribe->pending.oldest;

	CHECK(rq); /* next is never called when nothing is pending */
	if (rq->arrival_ns + scribe->hold_ns > now_ns) {
		*wake_ns = rq->arrival_ns + scribe->hold_ns;
		note(NONE, now_ns, 0);
		return NULL;
	}
	fifo_remove(&scribe->pending, rq);
	note(NEXT, now_ns, rq->id);
	return rq;
}

static struct io_request *scribe_more(void *state, const struct io_request *chosen,
				      u64 now_ns)
{
	struct scribe *scribe = state;
	struct io_request *rq = scribe->pending.oldest;

	CHECK(rq); /* as before */
	if (rq->owner != chosen->owner)
		return NULL;
	fifo_remove(&scribe->pending, rq);
	note(MORE, now_ns, rq->id);
	return rq;
}

static bool scribe_has_work(const void *state)
{
	const struct scribe *scribe = state;

	return scribe->pending.oldest;
}

static void scribe_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	note(COMPLETED, now_ns, rq->id);
}

static const struct sched_field scribe_tunables[] = {
	SCHED_TUNABLE(scribe, hold_ns, 0, 0, U64_MAX, "how long"),
};

static const struct scheduler scribe_scheduler = {
	.name = "scribe",
	.state_size = sizeof(struct scribe),
	.tunables = scribe_tunables,
	.nr_tunables = ARRAY_SIZE(scribe_tunables),
	.add = scribe_add,
	.next = scribe_next,
	.more = scribe_more,
	.has_work = scribe_has_work,
	.completed = scribe_completed,
};

/* Use an array, with rows that add_row adds one by one. */
static void use_rows(const struct scheduler *scheduler, const char *workload,
		     u32 processes, u32 servers)
{
	simulation_exit(&sim);
	simulation_init(&sim, scheduler, simulation_workload(workload));
	simulation_array(&sim, servers, 0, false);
	sim.input.world.processes = processes;
	sim.input.world.rows =
		(struct rows){ sim.first_row, sim.think_ns, sim.sector, sim.cost_ns,
			       sim.sectors,   sim.owner,    sim.op };
	sim.input.requests = SIM_ROWS_MAX;
	nr_calls = 0;
}

static void add_row(u32 process, u64 think_ns, u64 cost_ns)
{
	u64 i = sim.rows++;
	u32 p;

	sim.think_ns[i] = think_ns;
	sim.cost_ns[i] = cost_ns;
	sim.sectors[i] = 1;
	sim.owner[i] = process;
	for (p = process + 1; p <= sim.input.world.processes; p++)
		sim.first_row[p] = sim.rows;
}

static void expect_calls(const struct entry *want, u32 count)
{
	u32 i;

	for (i = 0; i < count && i < nr_calls; i++) {
		CHECK_EQ(calls[i].call, want[i].call);
		CHECK_EQ(calls[i].now_ns, want[i].now_ns);
		CHECK_EQ(calls[i].id, want[i].id);
	}
	CHECK_EQ(nr_calls, count);
}

#define EXPECT_CALLS(...)                                            \
	do {                                                         \
		static const struct entry want_[] = { __VA_ARGS__ }; \
		expect_calls(want_, ARRAY_SIZE(want_));              \
	} while (0)

/* Completion, arrivals and dispatch all happen at time 10. */
static void completions_arrivals_question(void)
{
	use_rows(&scribe_scheduler, "rows-open", 3, 1);
	add_row(0, 0, 10);
	add_row(1, 10, 5);
	add_row(2, 10, 5);
	CHECK_EQ(simulation_run(&sim), 0);
	EXPECT_CALLS({ ADD, 0, 1 }, { NEXT, 0, 1 }, { COMPLETED, 10, 1 },
		     { ADD, 10, 2 }, { ADD, 10, 3 }, { NEXT, 10, 2 },
		     { COMPLETED, 15, 2 }, { NEXT, 15, 3 }, { COMPLETED, 20, 3 });
	CHECK_EQ(sim.columns.idle_ns[0], 0);
	CHECK_EQ(sim.columns.idle_ns[1], 0);
}

/* A scheduler that waits is asked again at its wake-up, and earlier if a request arrives. */
static void a_scheduler_may_wait(void)
{
	use_rows(&scribe_scheduler, "rows-open", 2, 1);
	simulation_set(&sim, "hold_ns", 7);
	add_row(0, 1, 10);
	add_row(1, 3, 10);
	CHECK_EQ(simulation_run(&sim), 0);
	EXPECT_CALLS({ ADD, 1, 1 }, { NONE, 1, 0 }, { ADD, 3, 2 }, { NONE, 3, 0 },
		     { NEXT, 8, 1 }, { COMPLETED, 18, 1 }, { NEXT, 18, 2 },
		     { COMPLETED, 28, 2 });
	CHECK_EQ(sim.columns.idle_ns[0], 8);
	CHECK_EQ(sim.summary.completed, 2);
}

/* A scheduler that has enough in service sets no wake-up, and is asked at the next completion. */
static void a_scheduler_may_want_less_than_the_device(void)
{
	use_rows(registry_find("sfq"), "rows-open", 1, 2);
	simulation_set(&sim, "depth", 1);
	add_row(0, 0, 10);
	add_row(0, 0, 10);
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.columns.dispatch_ns[0], 0);
	CHECK_EQ(sim.columns.dispatch_ns[1], 10);
}

/* The gap follows each completion; the first request has no gap before it. */
static void a_gap_is_kept(void)
{
	use_rows(&scribe_scheduler, "rows-open", 2, 1);
	sim.input.gap_ns = 4;
	add_row(0, 1, 10);
	add_row(1, 1, 10);
	CHECK_EQ(simulation_run(&sim), 0);
	EXPECT_CALLS({ ADD, 1, 1 }, { ADD, 1, 2 }, { NEXT, 1, 1 }, { COMPLETED, 11, 1 },
		     { NEXT, 15, 2 }, { COMPLETED, 25, 2 });
	CHECK_EQ(sim.columns.idle_ns[1], 4);
	CHECK_EQ(sim.summary.service.sum, 10 + 10);
}

/*
 * Up to three requests of one process form a bundle, in the order of their tags.  The
 * first goes alone, as nothing else is pending.  Process 1 comes next, alone, since its
 * tag is 0 and the other's is 9.  Then come three with a mean of 12 1/3, and one is
 * left.
 */
static void bundles_share_a_server(void)
{
	static const s64 completion_ns[] = { 10, 30, 18, 30, 30, 38 };
	static const s64 id[] = { 1, 2, 3, 2, 2, 6 };
	u32 i;

	use_rows(registry_find("sfq"), "rows-open", 2, 1);
	simulation_bundle(&sim, (struct bundling){ .others = 2 });
	add_row(0, 1, 9);
	add_row(0, 1, 5);
	add_row(0, 2, 7);
	add_row(0, 0, 25);
	add_row(0, 1, 8);
	add_row(1, 3, 8);
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 6; i++) {
		CHECK_EQ(sim.columns.completion_ns[i], completion_ns[i]);
		CHECK_EQ(sim.columns.request_id[i], id[i]);
	}
}

/*
 * The engine asks for no more requests than are pending, and reports the completion of
 * each in the bundle.
 */
static void each_of_a_bundle_is_completed(void)
{
	use_rows(&scribe_scheduler, "rows-open", 2, 1);
	simulation_bundle(&sim, (struct bundling){ .others = 1 });
	add_row(0, 0, 10);
	add_row(0, 0, 20);
	add_row(0, 0, 30);
	add_row(1, 1, 40);
	CHECK_EQ(simulation_run(&sim), 0);
	EXPECT_CALLS({ ADD, 0, 1 }, { ADD, 0, 2 }, { ADD, 0, 3 }, { NEXT, 0, 1 },
		     { MORE, 0, 2 }, { ADD, 1, 4 }, { COMPLETED, 15, 1 },
		     { COMPLETED, 15, 2 }, { NEXT, 15, 3 }, { COMPLETED, 45, 3 },
		     { NEXT, 45, 4 }, { COMPLETED, 85, 4 });
	CHECK_EQ(sim.summary.model.count, 3);
	CHECK_EQ(sim.summary.response.count, 4);
}

/* A row records the request, its process and its times. */
static void a_row_says_what_was_asked_for(void)
{
	u32 i;

	use_rows(&scribe_scheduler, "rows-open", 3, 2);
	for (i = 0; i < 3; i++) {
		add_row(i, 1 + i, 10 * (1 + i));
		sim.sector[i] = 1000 + 100 * i;
		sim.sectors[i] = 1 + i;
		sim.op[i] = i == 1 ? IO_WRITE : IO_READ;
	}
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(sim.columns.sector[i], 1000 + 100 * i);
		CHECK_EQ(sim.columns.sectors[i], 1 + i);
		CHECK_EQ(sim.columns.owner[i], i);
		CHECK_EQ(sim.columns.op[i], i == 1 ? IO_WRITE : IO_READ);
		CHECK_EQ(sim.columns.request_id[i], 1 + i);
		CHECK_EQ(sim.columns.arrival_ns[i], 1 + i);
		CHECK_EQ(sim.columns.dispatch_ns[i], i == 2 ? 11 : 1 + i);
		CHECK_EQ(sim.columns.start_ns[i], sim.columns.dispatch_ns[i]);
		CHECK_EQ(sim.columns.model_service_ns[i], 10 * (1 + i));
		CHECK_EQ(sim.columns.reason[i], PICK_ORDER);
		CHECK_EQ(sim.columns.hit[i], 0);
	}
	CHECK_EQ(sim.summary.sectors, 1 + 2 + 3);
	CHECK_EQ(sim.summary.reason[PICK_ORDER], 3);
	CHECK_EQ(sim.watch.events, 3 + 3);
}

/* Head and cache change in the order of service; the engine copies the disk and resets the copy. */
static void a_disk_is_reset(void)
{
	simulation_exit(&sim);
	simulation_init(&sim, registry_find("fcfs"), simulation_workload("sequential"));
	sim.input.world.processes = 1;
	sim.input.requests = 4;
	sim.drive.arm.head.sector = 5000;
	sim.drive.cache.segment_sectors = 1000;
	CHECK_EQ(disk_cache_insert(&sim.drive.cache, 0, 1000).start, 16);
	sim.drive.cache.segment_sectors = 64;
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.drive.arm.head.sector, 5000);
	CHECK_EQ(sim.columns.completion_ns[0], 1 * MS);
	CHECK_EQ(sim.columns.completion_ns[1], 1 * MS + 100 * US);
	CHECK_EQ(sim.columns.completion_ns[2], 1 * MS + 200 * US);
	CHECK_EQ(sim.columns.hit[3], 0);
	CHECK_EQ(sim.columns.model_service_ns[3], 1 * MS + 16 * 5 * MS / SIM_CAPACITY);
	CHECK_EQ(sim.summary.hits, 2);
}

/* The drive's queue serves requests like the same commands given at the same times. */
static void a_drive_is_given_what_was_asked_for(struct draw *draw)
{
	static struct timed_device device;
	static struct command command[100];
	u32 i;

	use_rows(registry_find("fcfs"), "rows-open", 1, 1);
	for (i = 0; i < 100; i++) {
		add_row(0, draw_below(draw, 4 * MS), 0);
		sim.sector[i] = 8 * draw_below(draw, 1000);
		sim.sectors[i] = 1 + draw_below(draw, 8);
		sim.op[i] = draw_below(draw, IO_OPS);
	}
	sim.drive.queue_depth = sim.input.depth = 1 + draw_below(draw, 8);
	sim.drive.queue_age_ns = draw_below(draw, 50 * MS);
	sim.input.drive = &sim.drive;
	CHECK_EQ(simulation_run(&sim), 0);
	device = (struct timed_device){ .drive = sim.drive, .scale_milli = 1000 };
	device_restart(&device, NULL, 0);
	for (i = 0; i < 100; i++) {
		command[i] = (struct command){ .sector = sim.sector[i],
					       .sectors = sim.sectors[i],
					       .op = sim.op[i] };
		while (device_next(&device, sim.columns.dispatch_ns[i]))
			;
		device_give(&device, &command[i], sim.columns.dispatch_ns[i]);
	}
	while (device_next(&device, U64_MAX))
		;
	for (i = 0; i < 100; i++) {
		CHECK_EQ(sim.columns.start_ns[i], command[i].start_ns);
		CHECK_EQ(sim.columns.model_service_ns[i], command[i].service_ns);
		CHECK_EQ(sim.columns.hit[i], command[i].hit);
	}
}

/* A target that rotates in 100 ns. */
static u64 next_turn(const struct io_request *rq, u64 start_ns)
{
	return start_ns - start_ns % 100 + 100 + rq->sectors;
}

/* The engine calls the target once for each request, when the previous one is complete. */
static void a_target_is_asked_when_it_begins(void)
{
	u32 i;

	use_rows(&scribe_scheduler, "rows-open", 1, 1);
	sim.input.target = next_turn;
	sim.input.depth = 3;
	for (i = 0; i < 5; i++) {
		add_row(0, 1, 0);
		sim.sectors[i] = 1 + i;
	}
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 5; i++) {
		CHECK_EQ(sim.columns.start_ns[i],
			 i ? sim.columns.completion_ns[i - 1] : 1);
		CHECK_EQ(sim.columns.completion_ns[i], 100 * (1 + i) + 1 + i);
	}
}

/*
 * FCFS on several servers (the recursion of Kiefer and Wolfowitz) against the engine,
 * to the nanosecond.  Requests may wait before the device or inside it.
 */
static void first_come_first_served(struct draw *draw)
{
	u32 servers = 1 + draw_below(draw, 6);
	u64 mean_ns = 1 + draw_below(draw, 100);
	u64 free_at[8] = { 0 };
	u64 arrival_ns = 0;
	u32 i, k;

	use_rows(registry_find("fcfs"), "rows-open", 1, servers);
	sim.input.max_pending = 1000;
	for (i = 0; i < 1000; i++)
		add_row(0, draw_below(draw, 2 * mean_ns / servers + 2),
			1 + draw_below(draw, 2 * mean_ns));
	if (draw_below(draw, 2))
		sim.input.depth = servers + draw_below(draw, 50);
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 1000; i++) {
		u32 soonest = 0;

		for (k = 1; k < servers; k++)
			soonest = free_at[k] < free_at[soonest] ? k : soonest;
		arrival_ns += sim.think_ns[i];
		if (free_at[soonest] < arrival_ns)
			free_at[soonest] = arrival_ns;
		CHECK_EQ(sim.columns.arrival_ns[i], arrival_ns);
		CHECK_EQ(sim.columns.start_ns[i], free_at[soonest]);
		free_at[soonest] += sim.cost_ns[i];
		CHECK_EQ(sim.columns.completion_ns[i], free_at[soonest]);
	}
}

/* The array's own service times are the mean, or draws that depend only on the seed. */
static void an_array_draws(void)
{
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, U64_MAX - 1);
	simulation_exit(&sim);
	simulation_init(&sim, registry_find("fcfs"), simulation_workload("random"));
	simulation_array(&sim, 3, 5 * MS, true);
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(sim.columns.model_service_ns[i],
			 draw_exponential(&draw, 5 * MS));
	sim.input.array.exponential = false;
	CHECK_EQ(simulation_run(&sim), 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(sim.columns.model_service_ns[i], 5 * MS);
}

static bool has_asked;

/* Read sectors 6 to 19 of a file, once. */
static bool fourteen_sectors(void *state, u32 process, struct step *step)
{
	bool asks = !has_asked;

	*step = (struct step){ .file = 0, .sector = 6, .sectors = 14 };
	has_asked = true;
	return asks;
}

/* Without a page cache, exactly the requested sectors are read, extent by extent. */
static void a_file_is_read_in_its_pieces(void)
{
	struct workload workload = *simulation_workload("random");
	u64 bytes = 30 * 512, first[] = { 0, 3 };
	u64 start[] = { 100, 300, 200 }, length[] = { 8, 4, 18 };

	simulation_exit(&sim);
	simulation_init(&sim, registry_find("fcfs"), &workload);
	workload.step = fourteen_sectors;
	has_asked = false;
	sim.extents = 3;
	sim.input.world.layout = (struct layout){ 1, &bytes, first, start, length };
	sim.input.world.processes = 1;
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.summary.completed, 3);
	CHECK_EQ(sim.columns.sector[0], 106);
	CHECK_EQ(sim.columns.sectors[0], 2);
	CHECK_EQ(sim.columns.sector[1], 300);
	CHECK_EQ(sim.columns.sectors[1], 4);
	CHECK_EQ(sim.columns.sector[2], 200);
	CHECK_EQ(sim.columns.sectors[2], 8);
}

#define PAGES_A_FILE 300

static u32 pages_asked, page_sectors;

/* Read all pages of two files in order, twice. */
static bool twice_through(void *state, u32 process, struct step *step)
{
	u32 page = pages_asked++ % (2 * PAGES_A_FILE);

	*step = (struct step){ .file = page / PAGES_A_FILE,
			       .sector = page % PAGES_A_FILE * page_sectors,
			       .sectors = page_sectors };
	return pages_asked <= 4 * PAGES_A_FILE;
}

static void expect_misses(u64 cache_bytes, u64 misses)
{
	struct workload workload = *simulation_workload("random");

	simulation_exit(&sim);
	simulation_init(&sim, registry_find("fcfs"), &workload);
	workload.step = twice_through;
	pages_asked = 0;
	sim.extents = 2;
	sim.bytes[0] = sim.bytes[1] = 512ull * page_sectors * PAGES_A_FILE;
	sim.length[0] = sim.length[1] = (u64)page_sectors * PAGES_A_FILE;
	sim.start[0] = 1000;
	sim.start[1] = 5000;
	sim.first_extent[1] = 1;
	sim.first_extent[2] = 2;
	sim.input.world.layout = (struct layout){
		.files = 2,
		.bytes = sim.bytes,
		.first = sim.first_extent,
		.start = sim.start,
		.length = sim.length,
	};
	sim.input.world.processes = 1;
	sim.input.requests = 10 * PAGES_A_FILE;
	sim.input.cache = (struct sim_cache){ .bytes = cache_bytes,
					      .page_sectors = page_sectors,
					      .policies = sim.input.cache.policies };
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.summary.page_misses, misses);
	CHECK_EQ(sim.summary.completed, misses);
	CHECK_EQ(sim.summary.sectors, misses * page_sectors);
	CHECK_EQ(sim.summary.page_hits, 4 * PAGES_A_FILE);
}

/*
 * A page cache that is one page too small for the files evicts each page before it is read again.
 */
static void the_page_cache_holds_what_it_is_told(void)
{
	for (page_sectors = 1; page_sectors <= 8; page_sectors *= 8) {
		u64 all = 512ull * page_sectors * 2 * PAGES_A_FILE;

		expect_misses(all, 2 * PAGES_A_FILE);
		expect_misses(all - 1, 4 * PAGES_A_FILE);
		expect_misses(1ull << 30, 2 * PAGES_A_FILE);
	}
}

int main(void)
{
	completions_arrivals_question();
	a_scheduler_may_wait();
	a_scheduler_may_want_less_than_the_device();
	a_gap_is_kept();
	bundles_share_a_server();
	each_of_a_bundle_is_completed();
	a_row_says_what_was_asked_for();
	a_disk_is_reset();
	check_seeds(100, a_drive_is_given_what_was_asked_for);
	a_target_is_asked_when_it_begins();
	check_seeds(300, first_come_first_served);
	an_array_draws();
	a_file_is_read_in_its_pieces();
	the_page_cache_holds_what_it_is_told();
	simulation_exit(&sim);
	return 0;
}
