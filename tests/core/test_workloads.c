// SPDX-License-Identifier: MIT
/*
 * The requests of each workload's processes, step by step: the random draws in the order of guest/,
 * a stream for each process, and the end of finite workloads.
 */
#include <string.h>

#include "../../core/surge.h"
#include "simulation.h"

static struct simulation sim;
static void *state;

/* Start the workload with the parameters in sim. */
static int start(void)
{
	const struct workload *workload = sim.input.workload;
	u32 i;

	state = port_zalloc(workload->state_size);
	if (!state)
		return -ENOMEM;
	for (i = 0; i < workload->nr_parameters; i++)
		*sched_field_value(state, &workload->parameters[i]) = sim.parameters[i];
	return workload->init(state, &sim.input.world);
}

static void stop(void)
{
	if (state)
		sim.input.workload->exit(state);
	port_free(state);
}

static void use(const char *workload)
{
	simulation_init(&sim, registry_find("fcfs"), simulation_workload(workload));
}

static struct step next(u32 process)
{
	struct step step;

	memset(&step, SIM_UNWRITTEN, sizeof(step));
	CHECK(sim.input.workload->step(state, process, &step));
	CHECK(step.sectors);
	CHECK(step.op < IO_OPS);
	CHECK_EQ(step.owner, process);
	return step;
}

/* The operation is drawn first, then the position, as in guest/random.c. */
static void random_draws_as_the_guest_does(void)
{
	u32 process, i;

	use("random");
	simulation_set(&sim, "writes_percent", 30);
	simulation_set(&sim, "think_ns", 5 * MS);
	sim.input.world.seed = 7;
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++) {
		struct draw draw;

		draw_seed(&draw, 7, process);
		for (i = 0; i < 1000; i++) {
			struct step step = next(process);

			CHECK_EQ(step.op, draw_below(&draw, 100) < 30);
			CHECK_EQ(step.sector, draw_below(&draw, SIM_CAPACITY / 8) * 8);
			CHECK_EQ(step.sectors, 8);
			CHECK_EQ(step.think_ns, 5 * MS);
			CHECK_EQ(step.file, NO_FILE);
			CHECK_EQ(step.cost_ns, 0);
		}
	}
	stop();
}

static void poisson_draws_gap_op_place(void)
{
	u32 process, i;

	use("poisson");
	simulation_set(&sim, "mean_gap_ns", 3 * MS);
	simulation_set(&sim, "sectors", 5);
	simulation_set(&sim, "writes_percent", 50);
	CHECK(sim.input.workload->open);
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++) {
		struct draw draw;

		draw_seed(&draw, 1, process);
		for (i = 0; i < 1000; i++) {
			struct step step = next(process);

			CHECK_EQ(step.think_ns, draw_exponential(&draw, 3 * MS));
			CHECK_EQ(step.op, draw_below(&draw, 100) < 50);
			CHECK_EQ(step.sector, draw_below(&draw, SIM_CAPACITY / 5) * 5);
			CHECK_EQ(step.sectors, 5);
		}
	}
	stop();
}

/* Expect a read of one page of a SURGE file; the sleep before it is think_ns. */
static void expect_page(u32 process, u32 file, u64 page, u64 think_ns)
{
	struct step step = next(process);

	CHECK_EQ(step.file, file);
	CHECK_EQ(step.sector, page * 8);
	CHECK_EQ(step.sectors, 8);
	CHECK_EQ(step.op, IO_READ);
	CHECK_EQ(step.think_ns, think_ns);
}

/*
 * Figure 2: draw the number of files; for each, draw which file, and a sleep after every page.  The
 * last sleep is drawn before the next file.
 */
static void expect_process(u32 process, u32 files, u64 scale_milli)
{
	u64 think_ns = 0;
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, process);
	for (i = 0; i < 100; i++) {
		u64 count;

		for (count = surge_file_count(&draw); count; count--) {
			u32 file = surge_file(&draw, files);
			u64 pages = (sim.bytes[file] + 4095) / 4096;
			u64 page;

			for (page = 0; page < pages; page++) {
				expect_page(process, file, page, think_ns);
				think_ns = surge_sleep_ns(&draw) * scale_milli / 1000;
			}
		}
	}
}

static void surge_draws_as_figure_2(struct draw *draw)
{
	u32 files = 1 + draw_below(draw, SIM_FILES_MAX);
	u32 process;

	use("surge");
	simulation_files(&sim, draw, files, 8);
	/* The most popular file consists of whole pages. */
	sim.bytes[0] = (sim.bytes[0] + 4095) / 4096 * 4096;
	simulation_set(&sim, "think_scale_milli", 2500);
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++)
		expect_process(process, files, 2500);
	stop();
}

static void sequential_goes_up_and_around(void)
{
	u64 places = SIM_CAPACITY / 1000;
	u32 process, i;

	use("sequential");
	simulation_set(&sim, "sectors", 1000);
	simulation_set(&sim, "writes_percent", 100);
	sim.input.world.processes = 3;
	CHECK_EQ(start(), 0);
	for (process = 0; process < 3; process++) {
		for (i = 0; i < 250; i++) {
			u64 place = (places * process / 3 + i) % places;
			struct step step = next(process);

			CHECK_EQ(step.sector, place * 1000);
			CHECK_EQ(step.sectors, 1000);
			CHECK_EQ(step.op, IO_WRITE);
		}
	}
	stop();
}

/* Operations are drawn as in the workload random, from one stream for each process. */
static void sequential_draws_what_it_writes(void)
{
	u32 process, i;

	use("sequential");
	simulation_set(&sim, "writes_percent", 30);
	simulation_set(&sim, "think_ns", 5 * MS);
	sim.input.world.seed = 7;
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++) {
		struct draw draw;

		draw_seed(&draw, 7, process);
		for (i = 0; i < 1000; i++) {
			struct step step = next(process);

			CHECK_EQ(step.op, draw_below(&draw, 100) < 30);
			CHECK_EQ(step.think_ns, 5 * MS);
		}
	}
	stop();
}

static void rows_are_played_once(const char *workload, struct draw *draw)
{
	struct step step;
	u32 process;
	u64 i;

	use(workload);
	simulation_rows(&sim, draw, 20);
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++) {
		for (i = sim.first_row[process]; i < sim.first_row[process + 1]; i++) {
			step = next(process);
			CHECK_EQ(step.think_ns, sim.think_ns[i]);
			CHECK_EQ(step.sector, sim.sector[i]);
			CHECK_EQ(step.sectors, sim.sectors[i]);
			CHECK_EQ(step.cost_ns, sim.cost_ns[i]);
			CHECK_EQ(step.op, sim.op[i]);
			CHECK_EQ(step.file, NO_FILE);
		}
		CHECK(!sim.input.workload->step(state, process, &step));
		CHECK(!sim.input.workload->step(state, process, &step));
	}
	stop();
}

static void play_rows(struct draw *draw)
{
	rows_are_played_once("rows-open", draw);
	rows_are_played_once("rows-closed", draw);
}

/* Expect the next piece, think_ns after the previous one, with `more` pieces to follow. */
static void next_piece(u32 process, struct service_chain *chain, u64 think_ns, u32 more)
{
	struct step step = next(process);

	CHECK_EQ(step.think_ns, think_ns);
	CHECK_EQ(step.cost_ns, service_chain_draw(chain, &sim.input.world.service));
	CHECK_EQ(step.more, more);
	CHECK_EQ(step.file, NO_FILE);
	CHECK_EQ(step.sector, 0);
	CHECK_EQ(step.sectors, 1);
	CHECK_EQ(step.op, IO_READ);
}

/* All pieces of a request arrive at once, and no request arrives after until_ns. */
static void customers_come_as_they_came(struct draw *draw)
{
	u32 process;
	u64 i;

	use("customers");
	sim.input.world.seed = draw_u64(draw);
	simulation_customers(&sim, draw, 30);
	if (draw_below(draw, 2))
		sim.input.world.until_ns = draw_below(draw, 200 * MS);
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++) {
		const struct arrivals *arrivals = &sim.arrivals[process];
		struct service_chain chain;
		struct step step;
		u64 at_ns = 0;

		service_chain_begin(&chain, &sim.input.world.service, process,
				    sim.input.world.seed, process);
		for (i = 0; i < arrivals->count; i++) {
			u32 left = arrivals->pieces[i];

			if (arrivals->arrival_ns[i] >= sim.input.world.until_ns)
				break;
			next_piece(process, &chain, arrivals->arrival_ns[i] - at_ns,
				   --left);
			at_ns = arrivals->arrival_ns[i];
			while (left)
				next_piece(process, &chain, 0, --left);
		}
		CHECK(!sim.input.workload->step(state, process, &step));
		CHECK(!sim.input.workload->step(state, process, &step));
	}
	stop();
}

/* Expect requests of class 2 in blocks: as recorded within a block, each with its own time. */
static void blocks_of(u64 block)
{
	static const u64 at_ns[] = { 0, 10, 30, 60, 100, 150, 210 };
	static const u64 service_ns[] = { 1, 2, 3, 1ull << 60, 0, 6, 7 };
	static const u64 served_ns[] = { 1, 2, 3, RECORDED_SERVICE_MAX, 1 };
	static const u16 pieces[] = { 1, 1, 2, 1, 3, 0, 1 };
	struct resampling resampling[4];
	u64 at = 0, place = 0, taken, left = 0, pool = 5;
	struct step step;
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, 0);
	use("customers");
	simulation_customers(&sim, &draw, 1);
	for (i = 0; i < 4; i++) {
		sim.arrivals[i] = (struct arrivals){ 7, at_ns, pieces, service_ns };
		resampling[i] = (struct resampling){ block, 150, 1 };
	}
	sim.input.world.resampling = resampling;
	sim.input.world.until_ns = 500;
	draw_seed(&draw, sim.input.world.seed, (1ull << 32) + 2);
	CHECK_EQ(start(), 0);
	for (taken = 0; taken < 4 * pool; taken++) {
		u64 gap_ns;

		place = left ? (place + 1) % pool : draw_below(&draw, pool);
		left = left ? left - 1 : block - 1;
		gap_ns = place ? at_ns[place] - at_ns[place - 1] : 100 / 4 + 1;
		gap_ns = taken ? gap_ns : 0;
		at += gap_ns;
		if (at >= 500)
			break;
		for (i = pieces[place]; i; i--) {
			step = next(2);
			CHECK_EQ(step.think_ns, i == pieces[place] ? gap_ns : 0);
			CHECK_EQ(step.cost_ns, served_ns[place]);
			CHECK_EQ(step.more, i - 1);
		}
	}
	CHECK(taken > 5);
	CHECK(!sim.input.workload->step(state, 2, &step));
	CHECK(!sim.input.workload->step(state, 2, &step));
	stop();
	resampling[3].pool_ns = 200; /* with the request that has no pieces */
	CHECK_EQ(start(), -EBADMSG);
	stop();
	sim.input.world.resampling = NULL;
}

static void customers_come_in_blocks(void)
{
	blocks_of(1);
	blocks_of(3);
	blocks_of(1ull << 62);
}

/* Give each process two requests, of which the last process' are invalid. */
static void customers_refuse(int error, u64 first_ns, u64 second_ns, u16 pieces)
{
	static const u64 at_ns[] = { 5, 5 };
	static const u16 one[] = { 1, 1 };
	u64 bad_ns[] = { first_ns, second_ns };
	u16 bad[] = { 1, pieces };
	struct draw draw;
	u32 i;

	draw_seed(&draw, 1, 0);
	use("customers");
	simulation_customers(&sim, &draw, 1);
	for (i = 0; i < 3; i++)
		sim.arrivals[i] = (struct arrivals){ 2, at_ns, one, NULL };
	sim.arrivals[3] = (struct arrivals){ 2, bad_ns, bad, NULL };
	sim.input.world.until_ns = 1000;
	CHECK_EQ(start(), error);
	stop();
}

static void customers_without_times(void)
{
	struct draw draw;

	draw_seed(&draw, 1, 0);
	use("customers");
	simulation_customers(&sim, &draw, 1);
	sim.input.world.service.start = NULL;
	CHECK_EQ(start(), -ENOENT);
	stop();
	simulation_customers(&sim, &draw, 1);
	sim.input.world.arrivals = NULL;
	CHECK_EQ(start(), -ENOENT);
	stop();
}

static void customers_are_looked_at(void)
{
	customers_refuse(0, 7, 7, 65535);
	customers_refuse(0, 7, (1ull << 62) - 1, 1);
	customers_refuse(-EBADMSG, 7, 6, 1);
	customers_refuse(-EBADMSG, 7, 7, 0);
	customers_refuse(0, 7, 1000, 0);
	customers_refuse(-EBADMSG, 7, 999, 0);
	customers_refuse(-EBADMSG, 7, 1ull << 62, 1);
	customers_refuse(-EBADMSG, U64_MAX, U64_MAX, 1);
	customers_refuse(0, 1000, 0, 1);
}

/*
 * Check that a process reads every byte of one file once, in order, from the right sectors; return
 * the file.
 */
static u32 read_file(u32 process, u64 read_bytes)
{
	struct step step = next(process);
	u32 file = step.file;
	u64 at = 0;

	for (;;) {
		u64 end = at + read_bytes;

		if (end > sim.bytes[file])
			end = sim.bytes[file];
		CHECK_EQ(step.file, file);
		CHECK_EQ(step.sector, at / 512);
		CHECK_EQ(step.sector + step.sectors, (end + 511) / 512);
		CHECK_EQ(step.op, IO_READ);
		at = end;
		if (at == sim.bytes[file])
			break;
		step = next(process);
	}
	CHECK(!sim.input.workload->step(state, process, &step));
	CHECK(!sim.input.workload->step(state, process, &step));
	return file;
}

/* Each thread reads a file of its own. */
static void concurrent_reads_end(struct draw *draw)
{
	u64 read_bytes = 1 + draw_below(draw, 3000);
	u32 process, files = 0;

	use("concurrent-read");
	sim.input.world.seed = draw_u64(draw);
	simulation_files(&sim, draw, 5, 1);
	simulation_set(&sim, "read_bytes", read_bytes);
	CHECK_EQ(start(), 0);
	for (process = 0; process < 4; process++)
		files |= 1u << read_file(process, read_bytes);
	CHECK_EQ(files, 15);
	stop();
}

/* One file for each thread suffices, and each thread can get any file. */
static void threads_draw_their_files(void)
{
	u32 got[4][4] = { { 0 } };
	struct draw draw;
	u32 process, k;
	u64 seed;

	draw_seed(&draw, 1, 0);
	use("concurrent-read");
	simulation_files(&sim, &draw, 4, 1);
	for (seed = 0; seed < 4000; seed++) {
		sim.input.world.seed = seed;
		CHECK_EQ(start(), 0);
		for (process = 0; process < 4; process++)
			got[process][next(process).file]++;
		stop();
	}
	/* Five standard deviations around a quarter. */
	for (process = 0; process < 4; process++) {
		for (k = 0; k < 4; k++)
			CHECK(got[process][k] > 860 && got[process][k] < 1140);
	}
	simulation_files(&sim, &draw, 3, 1);
	CHECK_EQ(start(), -ENOENT);
	stop();
}

/* Expect start to refuse invalid parameters; exit must still work afterwards. */
static void refuse(const char *workload, const char *parameter, u64 value, int error)
{
	use(workload);
	if (parameter)
		simulation_set(&sim, parameter, value);
	sim.input.world.capacity_sectors = 100;
	CHECK_EQ(start(), error);
	stop();
}

/* The file has three pages, but extents for only two and a half. */
static void surge_refuses_half_a_page(void)
{
	use("surge");
	sim.bytes[0] = 2 * 4096 + 1;
	sim.first_extent[1] = 1;
	sim.length[0] = 20;
	sim.input.world.layout = (struct layout){ 1, sim.bytes, sim.first_extent,
						  sim.start, sim.length };
	CHECK_EQ(start(), -EINVAL);
	stop();
	sim.length[0] = 24;
	CHECK_EQ(start(), 0);
	stop();
}

/* Each allocation of init fails once. */
static void no_memory(const struct workload *workload)
{
	int error = -ENOMEM;
	struct draw draw;
	u32 granted;

	draw_seed(&draw, 1, 0);
	use(workload->name);
	simulation_files(&sim, &draw, 5, 8);
	simulation_rows(&sim, &draw, 20);
	simulation_customers(&sim, &draw, 20);
	for (granted = 0; error; granted++) {
		port_grant(granted);
		error = start();
		CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
		stop();
	}
	CHECK(granted > 1);
}

int main(void)
{
	u32 i;

	random_draws_as_the_guest_does();
	poisson_draws_gap_op_place();
	check_seeds(20, surge_draws_as_figure_2);
	sequential_goes_up_and_around();
	sequential_draws_what_it_writes();
	check_seeds(100, play_rows);
	check_seeds(100, customers_come_as_they_came);
	customers_are_looked_at();
	customers_come_in_blocks();
	check_seeds(100, concurrent_reads_end);
	threads_draw_their_files();
	refuse("random", "sectors", 101, -ENOSPC);
	refuse("poisson", "sectors", 101, -ENOSPC);
	refuse("sequential", "sectors", 101, -ENOSPC);
	refuse("surge", NULL, 0, -ENOENT);
	refuse("concurrent-read", NULL, 0, -ENOENT);
	refuse("rows-open", NULL, 0, -ENOENT);
	refuse("rows-closed", NULL, 0, -ENOENT);
	refuse("customers", NULL, 0, -ENOENT);
	customers_without_times();
	surge_refuses_half_a_page();
	CHECK(workload_count() >= 8);
	for (i = 0; i < workload_count(); i++)
		no_memory(workload_get(i));
	return 0;
}
