// SPDX-License-Identifier: MIT
/*
 * How a simulation ends early: no memory, too many pending requests, requests held back
 * or passed over forever, endless loops, or the clock's end.  Also inputs that are
 * refused before the run.
 */
#include <string.h>

#include "../../core/fifo.h"
#include "simulation.h"

static struct simulation sim;

static void use(const char *scheduler, const char *workload)
{
	simulation_exit(&sim);
	simulation_init(&sim, registry_find(scheduler), simulation_workload(workload));
}

/* Use one process with count rows, think_ns apart. */
static void use_rows(u32 count, u64 think_ns, u64 cost_ns)
{
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, 0);
	use("fcfs", "rows-open");
	simulation_array(&sim, 1, 0, false);
	simulation_rows(&sim, &draw, 1);
	sim.input.world.processes = 1;
	sim.rows = count;
	sim.first_row[1] = count;
	for (i = 0; i < count; i++) {
		sim.sectors[i] = 1;
		sim.sector[i] = 0;
		sim.op[i] = IO_READ;
		sim.think_ns[i] = think_ns;
		sim.cost_ns[i] = cost_ns;
	}
}

/* Each allocation fails once, also those during the run; nothing leaks. */
static void no_memory(void)
{
	int error = -ENOMEM;
	u32 granted;

	for (granted = 0; error; granted++) {
		port_grant(granted);
		error = simulation_run(&sim);
		CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
	}
	CHECK(granted >= 5);
	CHECK_EQ(sim.summary.completed, sim.input.requests);
}

/* FCFS offers no `more` operation, which bundles need. */
static void nothing_to_bundle_with(void)
{
	use_rows(1, 0, MS);
	simulation_bundle(&sim, (struct bundling){ .others = 1 });
	CHECK_EQ(simulation_run(&sim), -EOPNOTSUPP);
	CHECK_EQ(sim.summary.completed, 0);
	simulation_bundle(&sim, (struct bundling){ .others = 0 });
	CHECK_EQ(simulation_run(&sim), 0);
}

static void no_memory_for(const struct scheduler *scheduler)
{
	struct draw draw;

	draw_seed(&draw, 1, 0);
	use(scheduler->name, "random");
	sim.input.depth = 3;
	no_memory();
	use(scheduler->name, "surge");
	simulation_files(&sim, &draw, 10, 8);
	sim.input.cache =
		(struct sim_cache){ 100 * 4096, 8, 32, sim.input.cache.policies };
	no_memory();
}

/* More requests are in service than the event queue had room for initially. */
static void no_memory_to_grow(void)
{
	u32 i;

	use_rows(200, 0, 5);
	sim.input.requests = 200;
	sim.input.array.servers = 200;
	sim.input.depth = 200;
	no_memory();
	for (i = 0; i < 200; i++)
		CHECK_EQ(sim.columns.completion_ns[i], 5);
}

/* max_pending requests may be pending, but not one more. */
static void too_many(void)
{
	use_rows(20, 0, 5);
	sim.input.requests = 20;
	sim.input.max_pending = 20;
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.summary.completed, 20);
	sim.input.max_pending = 19;
	CHECK_EQ(simulation_run(&sim), -EOVERFLOW);
	CHECK_EQ(sim.summary.completed, 0);
}

/* The summary covers the requests served until then. */
static void unstable(void)
{
	use("deadline", "poisson");
	simulation_set(&sim, "mean_gap_ns", 2 * MS);
	sim.input.requests = 100000;
	CHECK_EQ(simulation_run(&sim), -EOVERFLOW);
	CHECK(sim.summary.completed > 10);
	CHECK_EQ(sim.summary.response.count, sim.summary.completed);
	CHECK(sim.summary.last_arrival_ns >= sim.summary.last_completion_ns);
	CHECK(sim.counters[0] > 0);
}

/* A scheduler that never dispatches, and one that prefers the newest request. */

struct stubborn {
	struct fifo pending;
};

static void stubborn_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct stubborn *stubborn = state;

	fifo_add(&stubborn->pending, rq);
}

static bool stubborn_has_work(const void *state)
{
	const struct stubborn *stubborn = state;

	return stubborn->pending.oldest;
}

/* Ask for a wake-up 1 ns later, every time. */
static struct io_request *hold_next(void *state, u64 now_ns, u64 *wake_ns)
{
	*wake_ns = now_ns + 1;
	return NULL;
}

static struct io_request *mute_next(void *state, u64 now_ns, u64 *wake_ns)
{
	return NULL;
}

static struct io_request *newest_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct stubborn *stubborn = state;
	struct io_request *rq = stubborn->pending.newest;

	if (rq)
		fifo_remove(&stubborn->pending, rq);
	return rq;
}

static const struct scheduler hold = {
	.name = "hold",
	.state_size = sizeof(struct stubborn),
	.add = stubborn_add,
	.next = hold_next,
	.has_work = stubborn_has_work,
};

static const struct scheduler mute = {
	.name = "mute",
	.state_size = sizeof(struct stubborn),
	.add = stubborn_add,
	.next = mute_next,
	.has_work = stubborn_has_work,
};

static const struct scheduler newest = {
	.name = "newest",
	.state_size = sizeof(struct stubborn),
	.add = stubborn_add,
	.next = newest_next,
	.has_work = stubborn_has_work,
};

/* The engine stops and names the rule that was broken. */
static void broken(void)
{
	use("fcfs", "random");
	sim.input.scheduler = &mute;
	CHECK_EQ(simulation_run(&sim), -EPROTO);
	CHECK_EQ(sim.summary.completed, 0);
	CHECK(!strcmp(
		sim.summary.broken,
		"next holds request 1 back for ever: nothing is in service, and it "
		"names no time"));
}

static void held_back(void)
{
	use("fcfs", "random");
	sim.input.scheduler = &hold;
	CHECK_EQ(simulation_run(&sim), -EDEADLK);
	CHECK_EQ(sim.summary.completed, 0);
	CHECK(!sim.summary.broken[0]);
}

/*
 * Two of the first three requests are never the newest again, so they starve.  The
 * engine reports that only after a hundred measurements, since before it could be a
 * burst.
 */
static void passed_over_for_long(void)
{
	use("fcfs", "random");
	simulation_array(&sim, 1, 1, false);
	sim.input.scheduler = &newest;
	sim.input.world.processes = 3;
	sim.input.requests = 20000;
	CHECK_EQ(simulation_run(&sim), -ETIMEDOUT);
	CHECK_EQ(sim.summary.completed, sim.input.requests - 2);
	/* Each of these requests has an arrival and a completion. */
	CHECK(sim.watch.events > 2 * (100 + 1) * 20000);
}

/* A scheduler that asks for 999 wake-ups before each request gets them all. */
static struct io_request *hesitant_next(void *state, u64 now_ns, u64 *wake_ns)
{
	static u32 moments;
	struct stubborn *stubborn = state;
	struct io_request *rq = stubborn->pending.oldest;

	if (++moments % 1000) {
		*wake_ns = now_ns + 1;
		return NULL;
	}
	fifo_remove(&stubborn->pending, rq);
	return rq;
}

static const struct scheduler hesitant = {
	.name = "hesitant",
	.state_size = sizeof(struct stubborn),
	.add = stubborn_add,
	.next = hesitant_next,
	.has_work = stubborn_has_work,
};

static void hesitates_often(void)
{
	use("fcfs", "random");
	sim.input.scheduler = &hesitant;
	sim.input.world.processes = 1;
	sim.input.requests = 1100;
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.summary.completed, 1100);
}

/* Read the same page forever, without think time. */
static bool again(void *state, u32 process, struct step *step)
{
	*step = (struct step){ .file = 0, .sectors = 8 };
	return true;
}

static void use_again(struct workload *workload)
{
	struct draw draw;

	draw_seed(&draw, 1, 0);
	use("fcfs", "random");
	*workload = *sim.input.workload;
	workload->step = again;
	sim.input.workload = workload;
	simulation_files(&sim, &draw, 2, 8);
	sim.input.cache = (struct sim_cache){ 1 << 20, 8, 0, sim.input.cache.policies };
}

static void going_round(void)
{
	struct workload workload;

	use_again(&workload);
	CHECK_EQ(simulation_run(&sim), -ELOOP);
	CHECK_EQ(sim.summary.completed, 1);
	CHECK(sim.summary.page_hits > 1000000);
}

/* The reads take time, but no request ever reaches the disk. */
static void everything_is_cached(void)
{
	struct workload workload;

	use_again(&workload);
	sim.input.ask_ns = 1;
	CHECK_EQ(simulation_run(&sim), -ENODATA);
	CHECK_EQ(sim.summary.completed, 1);
	CHECK(sim.summary.page_hits > 10000000);
}

/* The clock cannot pass 2^63 ns through arrivals, service or a workload's large step. */
static void out_of_time(void)
{
	use_rows(4, (1ull << 62) - 1, 5);
	CHECK_EQ(simulation_run(&sim), -ETIME);
	CHECK_EQ(sim.summary.completed, 1);
	use_rows(4, 0, (1ull << 62) - 1);
	CHECK_EQ(simulation_run(&sim), -ETIME);
	CHECK_EQ(sim.summary.completed, 2);
	/* Requests inside the device reach the limit as well. */
	sim.input.depth = 4;
	CHECK_EQ(simulation_run(&sim), -ETIME);
	/* The last instant still counts. */
	use_rows(2, (1ull << 62) - 1, 2);
	CHECK_EQ(simulation_run(&sim), 0);
	CHECK_EQ(sim.summary.completed, 2);
	use_rows(2, (1ull << 62) - 1, 3);
	CHECK_EQ(simulation_run(&sim), -ETIME);
	CHECK_EQ(sim.summary.completed, 1);
}

static u64 thought_ns;

static bool think(void *state, u32 process, struct step *step)
{
	*step = (struct step){ .think_ns = thought_ns, .file = NO_FILE, .sectors = 1 };
	return true;
}

static int run_thinking(u64 think_ns)
{
	struct workload workload;

	use("fcfs", "random");
	simulation_array(&sim, 1, 0, false);
	workload = *sim.input.workload;
	workload.step = think;
	thought_ns = think_ns;
	sim.input.workload = &workload;
	sim.input.world.processes = 1;
	sim.input.requests = 1;
	return simulation_run(&sim);
}

static void out_of_time_at_once(void)
{
	CHECK_EQ(run_thinking(U64_MAX), -ETIME);
	CHECK_EQ(run_thinking((1ull << 63) + 1), -ETIME);
	CHECK_EQ(run_thinking(1ull << 63), 0);
}

static void init_refuses(void)
{
	use("fcfs", "surge");
	CHECK_EQ(simulation_run(&sim), -ENOENT);
	use("cats", "random");
	simulation_set(&sim, "sectors", 1 << 15);
	CHECK_EQ(simulation_run(&sim), 0);
	use("fcfs", "random");
	simulation_set(&sim, "sectors", 1 << 15);
	sim.drive.disk.capacity_sectors = 1 << 14;
	sim.line[1].at = 1 << 14;
	sim.input.world.capacity_sectors = 1 << 14;
	CHECK_EQ(simulation_run(&sim), -ENOSPC);
}

int main(void)
{
	u32 i;

	for (i = 0; i < scheduler_count(); i++)
		no_memory_for(scheduler_get(i));
	nothing_to_bundle_with();
	no_memory_to_grow();
	too_many();
	unstable();
	held_back();
	broken();
	passed_over_for_long();
	hesitates_often();
	going_round();
	everything_is_cached();
	out_of_time();
	out_of_time_at_once();
	init_refuses();
	simulation_exit(&sim);
	return 0;
}
