// SPDX-License-Identifier: MIT
/*
 * Several threads. Each thread reads a different file from beginning to end, a few bytes at a time
 * (SIGCSE 2006 section 3.1: 10 threads, 10 files of 10 KB, 10 bytes a read). Each thread's file is
 * chosen at random; otherwise the threads would read files in their order on the disk.
 */
#include "../../core/draw.h"
#include "../workload.h"

#define SECTOR_BYTES 512

struct concurrent_read {
	u64 read_bytes;
	u64 think_ns;

	const struct layout *layout;
	u32 *file; /* file of each thread */
	u64 *at; /* next byte of each thread */
};

static const struct sched_field concurrent_read_parameters[] = {
	SCHED_TUNABLE(concurrent_read, read_bytes, 10, 1, 1 << 20, "bytes of a read"),
	SCHED_TUNABLE(concurrent_read, think_ns, 0, 0, 3600000000000ull,
		      "time between an answer and the next read"),
};

static void shuffle(u32 *file, u32 n, u64 seed)
{
	struct draw draw;
	u32 i;

	draw_seed(&draw, seed, 0);
	for (i = 0; i < n; i++) {
		u32 k = draw_below(&draw, i + 1);

		file[i] = file[k];
		file[k] = i;
	}
}

static int concurrent_read_init(void *state, const struct world *world)
{
	struct concurrent_read *threads = state;

	threads->layout = &world->layout;
	threads->file = port_zalloc(world->processes * sizeof(*threads->file));
	threads->at = port_zalloc(world->processes * sizeof(*threads->at));
	if (world->layout.files < world->processes)
		return -ENOENT;
	if (!threads->file || !threads->at)
		return -ENOMEM;
	shuffle(threads->file, world->processes, world->seed);
	return 0;
}

static void concurrent_read_exit(void *state)
{
	struct concurrent_read *threads = state;

	port_free(threads->file);
	port_free(threads->at);
}

static bool concurrent_read_step(void *state, u32 process, struct step *step)
{
	struct concurrent_read *threads = state;
	u32 file = threads->file[process];
	u64 left = threads->layout->bytes[file] - threads->at[process];
	u64 bytes = left < threads->read_bytes ? left : threads->read_bytes;
	u64 first = threads->at[process] / SECTOR_BYTES;
	u64 last = (threads->at[process] + bytes - 1) / SECTOR_BYTES;

	if (!left)
		return false;
	threads->at[process] += bytes;
	*step = (struct step){
		.think_ns = threads->think_ns,
		.file = file,
		.owner = process,
		.sector = first,
		.sectors = last - first + 1,
	};
	return true;
}

static const struct workload concurrent_read_workload = {
	.name = "concurrent-read",
	.summary = "each thread reads a file of its own, a few bytes at a time",
	.state_size = sizeof(struct concurrent_read),
	.parameters = concurrent_read_parameters,
	.nr_parameters = ARRAY_SIZE(concurrent_read_parameters),
	.init = concurrent_read_init,
	.exit = concurrent_read_exit,
	.step = concurrent_read_step,
};
REGISTER_WORKLOAD(concurrent_read_workload);
