// SPDX-License-Identifier: MIT
/* Valid inputs of the simulator pass; each invalid part is named. */
#include <string.h>

#include "simulation.h"
#include "laid_out.h"

static struct simulation sim;

/* Use a valid input with a table, files and a page cache. */
static void use(void)
{
	struct draw draw;

	draw_seed(&draw, 1, 0);
	simulation_init(&sim, registry_find("deadline"), simulation_workload("random"));
	simulation_files(&sim, &draw, 10, 8);
	simulation_rows(&sim, &draw, 20);
	simulation_customers(&sim, &draw, 20);
	CHECK(sim.rows > 10);
	sim.input.cache =
		(struct sim_cache){ 100 * 4096, 8, 32, sim.input.cache.policies };
	CHECK(!simulation_check(&sim));
}

static void expect(int line, const char *words)
{
	const char *wrong = simulation_check(&sim);

	if (!wrong || !strstr(wrong, words)) {
		fprintf(stderr, "line %d of the test: \"%s\", not \"%s\"\n", line,
			wrong ?: "", words);
		abort();
	}
}

/* Make one part invalid, and check the message. */
#define REFUSED(words, ...)              \
	do {                             \
		use();                   \
		__VA_ARGS__;             \
		expect(__LINE__, words); \
	} while (0)

#define PASSES(...)                             \
	do {                                    \
		use();                          \
		__VA_ARGS__;                    \
		CHECK(!simulation_check(&sim)); \
	} while (0)

static void run(void)
{
	struct sim_input *input = &sim.input;

	REFUSED("requests is 0", input->requests = 0);
	REFUSED("max_pending", input->max_pending = 0);
	REFUSED("max_pending", input->max_pending = (1 << 20) + 1);
	REFUSED("a time", input->gap_ns = 1ull << 62);
	REFUSED("a time", input->ask_ns = U64_MAX);
	REFUSED("a tunable", sim.tunables[0] = U64_MAX);
	REFUSED("a parameter", sim.parameters[0] = 101);
	REFUSED("a parameter", sim.parameters[1] = 0);
	REFUSED("processes", input->world.processes = 0);
	REFUSED("processes", input->world.processes = 100001);
	PASSES(input->max_pending = 1 << 20);
	PASSES(input->max_pending = 1);
	PASSES(input->requests = 1);
	PASSES(input->merge_sectors = 65536);
	REFUSED("merge_sectors", input->merge_sectors = 65537);
	REFUSED("only the servers of an array",
		simulation_bundle(&sim, (struct bundling){ .others = 1 }));
	REFUSED("only the servers of an array",
		simulation_bundle(&sim, (struct bundling){ .one_more = 1 }));
	REFUSED("only the servers of an array", input->bundling = sim.bundling,
		sim.bundling[3].others = 1);
	PASSES(input->bundling = sim.bundling, sim.bundling[4].others = 1);
	PASSES(input->drive = NULL, input->array.servers = 1,
	       simulation_bundle(&sim, (struct bundling){ U32_MAX, U64_MAX }));
	PASSES(input->gap_ns = input->ask_ns = (1ull << 62) - 1);
	REFUSED("a time", input->ask_ns = 1ull << 62);
	PASSES(input->world.rows.first = NULL, input->world.service.start = NULL,
	       input->world.processes = 100000);
	PASSES(input->world.processes = 1);
}

/* Every value is checked, at both ends of its range. */
static void ranges(void)
{
	const struct scheduler *deadline = sim.input.scheduler;
	const struct workload *random = sim.input.workload;
	u32 i;

	for (i = 0; i < deadline->nr_tunables; i++) {
		PASSES(sim.tunables[i] = deadline->tunables[i].min);
		PASSES(sim.tunables[i] = deadline->tunables[i].max);
		REFUSED("a tunable", sim.tunables[i] = deadline->tunables[i].max + 1);
	}
	for (i = 0; i < random->nr_parameters; i++) {
		PASSES(sim.parameters[i] = random->parameters[i].min);
		PASSES(sim.parameters[i] = random->parameters[i].max);
		REFUSED("a parameter",
			sim.parameters[i] = random->parameters[i].max + 1);
	}
	REFUSED("a parameter", sim.parameters[1] = random->parameters[1].min - 1);
}

/* Make the disk a single zone with known angles. */
static void know_angles(void)
{
	struct disk *disk = &sim.drive.disk;

	disk->rotation_ns = 1 << 22;
	disk->tracks = ZONES({ .sectors = 60, .slot = 1ull << 58 });
	disk->tracks.velocity = 1ull << 42;
}

static void angles(void)
{
	struct disk *disk = &sim.drive.disk;

	PASSES(know_angles());
	REFUSED("angles", know_angles(), disk->tracks.velocity++,
		disk->rotation_ns *= 2);
	REFUSED("angles", know_angles(), ZONE(*disk, 0).slot *= 2);
	REFUSED("impossible", know_angles(), ZONE(*disk, 0).sectors = 0);
	REFUSED("drawn", know_angles(), sim.drive.arm.random_phase = 1);
}

static void device(void)
{
	struct sim_input *input = &sim.input;
	struct disk *disk = &sim.drive.disk;

	REFUSED("the depth", input->depth = 0);
	REFUSED("the depth", input->depth = (1 << 20) + 1);
	REFUSED("queue is deeper than 256", sim.drive.queue_depth = 257);
	REFUSED("queue for over a minute", sim.drive.queue_age_ns = DISK_NS_MAX + 1);
	REFUSED("the disk has no", input->world.capacity_sectors = 0);
	REFUSED("the disk has no", input->world.capacity_sectors = 1ull << 48);
	REFUSED("differs from the world", input->world.capacity_sectors++);
	REFUSED("impossible", disk->seek.nr_points = 1);
	REFUSED("impossible", disk->seek.nr_points = CURVE_POINTS_MAX + 1);
	REFUSED("impossible", disk->transfer.nr_points = CURVE_POINTS_MAX + 1);
	REFUSED("impossible", disk->intercept_ns = DISK_NS_MAX + 1);
	REFUSED("impossible", SAMPLE(disk->seek, 1).value = U64_MAX);
	REFUSED("over a minute", sim.drive.bus.hit_ns = DISK_NS_MAX + 1);
	REFUSED("too many segments", sim.drive.cache.segments = 1025);
	REFUSED("a segment", sim.drive.cache.segment_sectors = 1ull << 48);
	REFUSED("a segment", sim.drive.cache.prefetch_sectors = U64_MAX);
	REFUSED("servers", simulation_array(&sim, 0, 1, true), input->depth = 1);
	REFUSED("servers", simulation_array(&sim, (1 << 16) + 1, 1, true));
	REFUSED("mean service", simulation_array(&sim, 1, 1ull << 56, true));
	PASSES(simulation_array(&sim, 1 << 16, (1ull << 56) - 1, true));
	PASSES(simulation_array(&sim, 1, 0, true));
	PASSES(input->depth = 1 << 20);
	PASSES(sim.drive.cache.segments = 512);
	PASSES(sim.drive.cache.segment_sectors = (1ull << 48) - 1);
	PASSES(sim.drive.cache.prefetch_sectors = (1ull << 48) - 1);
	REFUSED("a segment", sim.drive.cache.prefetch_sectors = 1ull << 48);
	PASSES(sim.drive.bus.hit_ns = DISK_NS_MAX);
	PASSES(linear(disk, (1ull << 48) - 1, 1, 1),
	       input->world.capacity_sectors = (1ull << 48) - 1);
	PASSES(linear(disk, 1, 1, 1), input->world.capacity_sectors = 1,
	       input->world.rows.first = NULL, input->world.layout.files = 0);
}

static void classes(void)
{
	static const u32 weight[4] = { 1, U32_MAX, 0, 1 };
	static const u8 io_class[4] = { 1, 3, 2, 0 };
	static const u8 level[4] = { 0, 7, 8, 0 };
	static const u8 too_high[4] = { 1, 1, 1, 4 };
	static const u32 first_weight[4] = { 0, 1, 1, 1 };
	static const u8 first_class[4] = { 0, 1, 1, 1 };
	static const u8 first_level[4] = { 8, 7, 7, 7 };

	REFUSED("a weight", sim.input.weight = weight);
	REFUSED("an I/O class", sim.input.io_class = io_class);
	REFUSED("an I/O class", sim.input.io_class = too_high);
	REFUSED("an I/O level", sim.input.level = level);
	REFUSED("a weight", sim.input.weight = first_weight);
	REFUSED("an I/O class", sim.input.io_class = first_class);
	REFUSED("an I/O level", sim.input.level = first_level);
	PASSES(sim.input.weight = weight, sim.input.world.processes = 2,
	       sim.input.io_class = io_class, sim.input.level = level);
}

static void table(void)
{
	u64 last;

	use();
	last = sim.rows - 1;
	REFUSED("not in order", sim.first_row[1] = sim.first_row[2] + 1);
	REFUSED("fewer rows", sim.rows--);
	REFUSED("no sectors", sim.sectors[last] = 0);
	REFUSED("past the end", sim.sector[last] = SIM_CAPACITY);
	REFUSED("past the end",
		sim.sector[last] = SIM_CAPACITY - sim.sectors[last] + 1);
	REFUSED("past the end", sim.sector[last] = U64_MAX);
	REFUSED("neither", sim.op[last] = IO_OPS);
	REFUSED("a time", sim.think_ns[last] = 1ull << 62);
	REFUSED("a time", sim.cost_ns[last] = 1ull << 62);
	REFUSED("no sectors", sim.sectors[0] = 0);
	REFUSED("not in order", sim.first_row[0] = sim.first_row[1] + 1);
	REFUSED("not in order", sim.first_row[3] = sim.first_row[4] + 1);
	PASSES(sim.think_ns[last] = sim.cost_ns[last] = (1ull << 62) - 1);
	PASSES(sim.sector[last] = SIM_CAPACITY - 1, sim.sectors[last] = 1);
	PASSES(sim.op[last] = IO_OPS - 1);
	PASSES(sim.first_row[1] = sim.first_row[2]);
	PASSES(sim.sector[last] = SIM_CAPACITY - sim.sectors[last]);
	PASSES(sim.input.world.rows.first = NULL, sim.op[last] = 9);
}

static void service_times(void)
{
	REFUSED("begins in an unknown phase", sim.first_phase[3] = 3);
	REFUSED("begins in an unknown phase", sim.first_phase[0] = 3);
	REFUSED("begins in an unknown phase", sim.input.world.service.phases = 0);
	REFUSED("leads to an unknown phase", sim.outcome[6].phase = 3);
	REFUSED("leads to an unknown phase", sim.outcome[0].phase = U32_MAX);
	REFUSED("end below 1", sim.outcome[6].last--);
	REFUSED("end below 1", sim.phase[1].outcomes = 2);
	REFUSED("no outcomes", sim.phase[2].outcomes = 0);
	REFUSED("no outcomes", sim.phase[2].outcomes = 3);
	REFUSED("no outcomes", sim.phase[2].first = 8);
	REFUSED("no outcomes", sim.phase[1].first = U32_MAX);
	REFUSED("more than 65536 stages", sim.phase[2].stages = 65537,
		sim.phase[2].mean = 1);
	REFUSED("2^41 ns", sim.phase[1].mean = 1ull << 57);
	REFUSED("2^41 ns", sim.phase[2].stages = 65536, sim.phase[2].mean = 1ull << 41);
	PASSES(sim.phase[1].mean = (1ull << 57) - 1);
	PASSES(sim.phase[2].stages = 65536, sim.phase[2].mean = (1ull << 41) - 1);
	PASSES(sim.phase[0].mean = U64_MAX);
	PASSES(sim.outcome[0].last = sim.outcome[2].last = 0);
	PASSES(sim.first_phase[4] = 3);
	PASSES(sim.input.world.service.start = NULL, sim.outcome[6].phase = 3);
}

static u64 sectors_of(u32 file)
{
	u64 sectors = 0;
	u64 i;

	for (i = sim.first_extent[file]; i < sim.first_extent[file + 1]; i++)
		sectors += sim.length[i];
	return sectors;
}

static void files(void)
{
	u64 *first = sim.first_extent;

	REFUSED("whole pages", sim.length[3] = 0);
	REFUSED("whole pages", sim.length[3]++);
	REFUSED("past the end of the disk", sim.start[3] = SIM_CAPACITY);
	REFUSED("past the end of the disk", sim.length[3] = 1ull << 60);
	REFUSED("not in order", first[4] = first[5] + 1);
	REFUSED("not in order", first[10]++);
	REFUSED("not in order", sim.input.world.layout.files = 1,
		first[1] = sim.extents + 1);
	REFUSED("empty", sim.bytes[3] = 0);
	REFUSED("longer than", sim.bytes[3] += 9 * 512 * 12 * 4);
	REFUSED("longer than", sim.bytes[3] = U64_MAX);
	REFUSED("empty", first[4] = first[3]);
	PASSES(sim.input.cache.bytes = 0, sim.length[first[3]]++);
	REFUSED("empty", sim.bytes[0] = 0);
	REFUSED("empty", sim.bytes[9] = 0);
	REFUSED("whole pages", sim.length[0]++);
	REFUSED("whole pages", sim.length[first[10] - 1]++);
	REFUSED("past the end of the disk",
		sim.start[3] = SIM_CAPACITY - sim.length[3] + 1);
	PASSES(sim.start[3] = SIM_CAPACITY - sim.length[3]);
	PASSES(sim.bytes[3] = sectors_of(3) * 512);
	REFUSED("longer than", sim.bytes[3] = sectors_of(3) * 512 + 1);
}

static void page_cache(void)
{
	struct sim_cache *cache = &sim.input.cache;

	REFUSED("a page is not", cache->page_sectors = 0);
	REFUSED("a page is not", cache->page_sectors = (1 << 15) + 1);
	REFUSED("smaller than one page", cache->bytes = 4095);
	REFUSED("too many pages", cache->bytes = U64_MAX);
	REFUSED("read-ahead", cache->read_ahead_pages = (1 << 15) + 1);
	PASSES(cache->bytes = 4096, cache->read_ahead_pages = 1 << 15);
	PASSES(cache->bytes = 4096ull << 31);
	REFUSED("too many pages", cache->bytes = (4096ull << 31) + 4096);
	PASSES(cache->page_sectors = 1);
	PASSES(cache->page_sectors = 1 << 15, cache->bytes = 512ull << 15,
	       sim.input.world.layout.files = 0);
}

/* Inputs that pass at the limits can be run. */
static void limits_run(void)
{
	use();
	sim.input.cache.bytes = 4096ull << 31;
	sim.input.workload = simulation_workload("surge");
	sim.parameters[0] = 1000;
	sim.input.requests = 10;
	CHECK_EQ(simulation_run(&sim), 0);
	simulation_exit(&sim);
	use();
	sim.drive.disk.intercept_ns = DISK_NS_MAX;
	sim.line[1].value = DISK_NS_MAX;
	sim.drive.bus.hit_ns = DISK_NS_MAX;
	sim.drive.cache.prefetch_sectors = (1ull << 48) - 1;
	CHECK_EQ(simulation_run(&sim), 0);
	simulation_exit(&sim);
}

int main(void)
{
	run();
	ranges();
	device();
	angles();
	classes();
	table();
	service_times();
	files();
	page_cache();
	limits_run();
	return 0;
}
