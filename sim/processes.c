// SPDX-License-Identifier: MIT
#include "fields.h"
#include "sim.h"

/* Limit of successive hits of all processes while the disk is idle: a hit ratio of 99.99999 %. */
#define HITS_IN_A_ROW_MAX 10000000

/* In an open workload the steps alone determine the times between requests. */
static u64 ask_ns(const struct sim *sim)
{
	return sim->workload->open ? 0 : sim->input->ask_ns;
}

void process_next_step(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];

	process->done = 0;
	if (!sim->workload->step(sim->workload_state, i, &process->step))
		return;
	if (process->step.think_ns > TIME_MAX_NS)
		sim->error = -ETIME;
	else
		sim_schedule(sim, sim->now_ns + process->step.think_ns + ask_ns(sim),
			     EVENT_ASK, i);
}

void process_answered(struct sim *sim, u32 i)
{
	if (--sim->process[i].outstanding || sim->workload->open)
		return;
	process_next_step(sim, i);
}

/* Read a file directly, without the page cache: issue a request for each piece on the disk. */
static void ask_file(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];
	const struct step *step = &process->step;
	u64 end = step->sector + step->sectors;
	u64 at = step->sector;

	while (at < end && !sim->error) {
		u64 run;
		u64 sector =
			layout_find(&sim->input->world.layout, step->file, at, &run);

		if (run > end - at)
			run = end - at;
		if (!requests_arrive(sim, i, sector, run))
			return;
		process->outstanding++;
		at += run;
	}
}

static u64 pages_of(const struct sim *sim, u32 file)
{
	u64 page_bytes = 512ull * sim->input->cache.page_sectors;

	return (sim->input->world.layout.bytes[file] + page_bytes - 1) / page_bytes;
}

/* Fetch pages for the page cache: issue a request for each piece on the disk. */
static void fetch_pages(void *context, u32 file, u64 first, u32 count, u32 i)
{
	struct sim *sim = context;
	u32 page_sectors = sim->input->cache.page_sectors;
	u64 page = first;

	while (page < first + count && !sim->error) {
		u64 left = first + count - page;
		struct bio *bio;
		u64 run;
		u64 sector = layout_find(&sim->input->world.layout, file,
					 page * page_sectors, &run);

		run /= page_sectors;
		if (run > left)
			run = left;
		bio = requests_arrive(sim, i, sector, run * page_sectors);
		if (!bio)
			return;
		bio->file = file;
		bio->page = page;
		bio->pages = run;
		page += run;
	}
}

static void wake_process(void *context, u32 i)
{
	struct sim *sim = context;

	sim_schedule(sim, sim->now_ns, EVENT_RESUME, i);
}

/*
 * Count a page hit. After too many hits in a row on an idle disk, end the simulation: it is
 * unlikely that the disk gets another request.
 */
static void count_hit(struct sim *sim)
{
	sim->summary->page_hits++;
	if (sim->elevator.contract.pending || sim->in_service)
		return;
	if (++sim->hits_in_a_row > with_processes(sim, HITS_IN_A_ROW_MAX))
		sim->error = -ENODATA;
}

/* Continue page by page until the process must wait for a page. */
void process_resume(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];
	const struct step *step = &process->step;
	u32 page_sectors = sim->input->cache.page_sectors;

	while (process->done < step->sectors && !sim->error) {
		u64 at = step->sector + process->done;
		bool there =
			page_cache_read(&sim->pages, i, step->file, at / page_sectors,
					pages_of(sim, step->file));

		if (page_cache_is_broken(&sim->pages)) {
			sim->error = -EPROTO;
			return;
		}
		if (!there) {
			sim->summary->page_misses++;
			return;
		}
		count_hit(sim);
		process->done += page_sectors - at % page_sectors;
	}
	if (!sim->error)
		process_next_step(sim, i);
}

void process_ask(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];
	const struct step *step = &process->step;

	if (step->file != NO_FILE && sim->pages.pages) {
		process_resume(sim, i);
		return;
	}
	if (step->file != NO_FILE)
		ask_file(sim, i);
	else if (requests_arrive(sim, i, step->sector, step->sectors))
		process->outstanding++;
	if (sim->workload->open && !sim->error)
		process_next_step(sim, i);
}

/* Return the number of pages of all files, at least 1. A larger cache would not help. */
static u64 pages_of_all(const struct sim *sim)
{
	const struct layout *layout = &sim->input->world.layout;
	u64 pages = 0;
	u64 i;

	for (i = 0; layout->files && i < layout->first[layout->files]; i++)
		pages += layout->length[i] / sim->input->cache.page_sectors;
	return pages ?: 1;
}

/* Keep what the policies have to tell; their exit may end this process. */
static void sum_up_pages(struct sim *sim)
{
	const struct page_policies *policies = &sim->pages.policies;
	struct sim_summary *summary = sim->summary;
	struct prefetch_contract *prefetch = &sim->pages.prefetch;
	struct replacement_contract *replacement = &sim->pages.replacement;

	if (prefetch->prefetcher)
		fields_get(prefetch->state, policies->prefetcher->counters,
			   policies->prefetcher->nr_counters,
			   summary->prefetcher_counters);
	if (replacement->replacer)
		fields_get(replacement->state, policies->replacer->counters,
			   policies->replacer->nr_counters, summary->replacer_counters);
	if (prefetch->init_error || prefetch_is_broken(prefetch)) {
		summary->part = PART_PREFETCHER;
		summary->init_error = prefetch->init_error;
		memcpy(summary->broken, prefetch->broken, CONTRACT_TEXT);
	} else if (replacement->init_error || replacement_is_broken(replacement)) {
		summary->part = PART_REPLACER;
		summary->init_error = replacement->init_error;
		memcpy(summary->broken, replacement->broken, CONTRACT_TEXT);
	}
}

void processes_exit_pages(struct sim *sim)
{
	sum_up_pages(sim);
	page_cache_exit(&sim->pages);
}

int processes_init_pages(struct sim *sim)
{
	const struct sim_cache *cache = &sim->input->cache;
	u64 pages, most;

	if (!cache->bytes)
		return 0;
	most = pages_of_all(sim);
	pages = cache->bytes / (512ull * cache->page_sectors);
	sim->pages = (struct page_cache){
		.pages = pages < most ? pages : most,
		.prefetch_pages = cache->read_ahead_pages,
		.policies = cache->policies,
		.fetch = fetch_pages,
		.wake = wake_process,
		.context = sim,
	};
	return page_cache_init(&sim->pages, sim->input->world.processes);
}
