// SPDX-License-Identifier: MIT
/*
 * The SURGE processes of guest/surge.c, with the same random numbers: file by file, page by page,
 * with a sleep after every page (PERFORM 2010 section 5, Figure 2).
 */
#include "../../core/surge.h"
#include "../streams.h"
#include "../workload.h"

#define PAGE_BYTES 4096
#define PAGE_SECTORS (PAGE_BYTES / 512)

/* One process: its current file, and how many more files it will read. */
struct reader {
	u64 files_left;
	u64 page;
	u64 pages;
	u32 file;
	bool has_read; /* it must sleep before the next page */
};

struct surge {
	u64 think_scale_milli;

	const struct layout *layout;
	struct reader *reader;
	struct draw *draw;
};

static const struct sched_field surge_parameters[] = {
	SCHED_TUNABLE(surge, think_scale_milli, 1000, 0, 1000000,
		      "stretches the sleeps, thousandths"),
};

/* Processes read whole pages, so the last page must be within the file's extents. */
static bool has_whole_pages(const struct layout *layout, u32 file)
{
	u64 pages = (layout->bytes[file] + PAGE_BYTES - 1) / PAGE_BYTES;
	u64 sectors = 0;
	u64 i;

	for (i = layout->first[file]; i < layout->first[file + 1]; i++)
		sectors += layout->length[i];
	return pages && sectors >= pages * PAGE_SECTORS;
}

static int surge_init(void *state, const struct world *world)
{
	struct surge *surge = state;
	u32 i;

	surge->layout = &world->layout;
	surge->reader = port_zalloc(world->processes * sizeof(*surge->reader));
	surge->draw = streams_new(world->seed, world->processes);
	if (!world->layout.files)
		return -ENOENT;
	for (i = 0; i < world->layout.files; i++) {
		if (!has_whole_pages(&world->layout, i))
			return -EINVAL;
	}
	return surge->reader && surge->draw ? 0 : -ENOMEM;
}

static void surge_exit(void *state)
{
	struct surge *surge = state;

	port_free(surge->reader);
	port_free(surge->draw);
}

static void next_file(const struct surge *surge, struct reader *reader,
		      struct draw *draw)
{
	if (!reader->files_left)
		reader->files_left = surge_file_count(draw);
	reader->files_left--;
	reader->file = surge_file(draw, surge->layout->files);
	reader->page = 0;
	reader->pages =
		(surge->layout->bytes[reader->file] + PAGE_BYTES - 1) / PAGE_BYTES;
}

static bool surge_step(void *state, u32 process, struct step *step)
{
	struct surge *surge = state;
	struct reader *reader = &surge->reader[process];
	struct draw *draw = &surge->draw[process];
	u64 think_ns = 0;

	if (reader->has_read)
		think_ns = port_mul_div(surge_sleep_ns(draw), surge->think_scale_milli,
					1000);
	reader->has_read = true;
	while (reader->page == reader->pages)
		next_file(surge, reader, draw);
	*step = (struct step){
		.think_ns = think_ns,
		.file = reader->file,
		.owner = process,
		.sector = reader->page++ * PAGE_SECTORS,
		.sectors = PAGE_SECTORS,
	};
	return true;
}

static const struct workload surge_workload = {
	.name = "surge",
	.summary = "web file server, ON/OFF processes",
	.state_size = sizeof(struct surge),
	.parameters = surge_parameters,
	.nr_parameters = ARRAY_SIZE(surge_parameters),
	.init = surge_init,
	.exit = surge_exit,
	.step = surge_step,
};
REGISTER_WORKLOAD(surge_workload);
