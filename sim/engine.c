// SPDX-License-Identifier: MIT
#include "engine.h"
#include "elevator.h"
#include "event_queue.h"
#include "fields.h"
#include "measure.h"
#include "page_cache.h"

/* At one instant, in this order. */
enum event_kind {
	EVENT_COMPLETION, /* of pool entry id */
	EVENT_ASK, /* process id asks */
	EVENT_RESUME, /* process id got the page that it waited for */
	EVENT_ENQUIRE, /* the scheduler may be asked: the gap is over, or it said so */
};

#define TIME_MAX_NS (1ull << 63)

/*
 * What no simulation does that gets anywhere; see sim_run.  Each limit is far above
 * what a sensible one needs, and is reached within seconds.
 */

/*
 * At one instant: who does not think goes on for as long as the page cache has what he
 * reads, and 20,000 hits in a row of each process are a hit ratio of 99.995 %.
 */
#define EVENTS_AT_ONCE_MAX 1000000
#define EACH_PROCESS_MAX 20000

/* With the disk idle, of all processes: a hit ratio of 99.99999 %. */
#define HITS_IN_A_ROW_MAX 10000000

/* A scheduler that waits on purpose is asked once more, or a few times if it ticks. */
#define REFUSALS_IN_A_ROW_MAX 1000000

/*
 * Until the last one measured is served: who waits for an answer can't bring many more
 * meanwhile, and a burst of open arrivals ends before it is a hundred measurements
 * long.
 */
#define LATER_ARRIVALS_MAX 1000000
#define LATER_ARRIVALS_EACH 100

/* What a process is doing. */
struct process {
	struct step step;
	u32 outstanding; /* requests that it waits for */
	u32 done; /* sectors of the step that it has got from the page cache */
};

struct sim {
	const struct sim_input *input;
	struct sim_summary *summary;
	const struct workload *workload;
	void *workload_state;
	struct event_queue events;
	struct elevator elevator;
	struct device device;
	struct page_cache pages;
	struct process *process;
	struct pending *pool;
	u32 free; /* first free entry */
	u32 in_service;
	u64 now_ns;
	u64 ready_ns; /* no dispatch before */
	u64 idle_since_ns;
	u64 last_completion_ns;
	u64 wake_ns; /* the enquiry that is due next, or U64_MAX */
	bool settled; /* the scheduler said "none", and nothing changed since */
	u64 arrived;
	u64 target;
	u64 hits_in_a_row; /* in the page cache, while the disk was idle */
	u64 refusals; /* how often the scheduler said "none" since it gave something */
	int error;
};

static u64 with_processes(const struct sim *sim, u64 limit)
{
	return limit + (u64)EACH_PROCESS_MAX * sim->input->world.processes;
}

static void schedule(struct sim *sim, u64 time_ns, enum event_kind kind, u32 id)
{
	struct event event = { .time_ns = time_ns, .priority = kind, .id = id };

	if (time_ns > TIME_MAX_NS)
		sim->error = -ETIME;
	else if (event_queue_add(&sim->events, event))
		sim->error = -ENOMEM;
}

/* Ask the scheduler then; the soonest enquiry is the only one that counts. */
static void enquire_at(struct sim *sim, u64 time_ns)
{
	if (time_ns >= sim->wake_ns && sim->wake_ns > sim->now_ns)
		return;
	sim->wake_ns = time_ns;
	schedule(sim, time_ns, EVENT_ENQUIRE, 0);
}

/* Requests: from the pool, to the scheduler. */

static struct pending *take_free(struct sim *sim)
{
	struct pending *pending = &sim->pool[sim->free];

	if (sim->free == sim->input->max_pending) {
		sim->error = -EOVERFLOW;
		return NULL;
	}
	sim->free = pending->next_free;
	return pending;
}

static void give_back(struct sim *sim, struct pending *pending)
{
	pending->next_free = sim->free;
	sim->free = pending - sim->pool;
}

/* The next row, or NOT_MEASURED. */
static u64 measure_arrival(struct sim *sim)
{
	if (sim->arrived >= sim->target)
		return NOT_MEASURED;
	if (!sim->arrived)
		sim->summary->first_arrival_ns = sim->now_ns;
	sim->summary->last_arrival_ns = sim->now_ns;
	return sim->arrived;
}

/* A scheduler that always prefers the new ones never ends what is measured. */
static bool is_starved(const struct sim *sim)
{
	u64 later = sim->arrived - sim->target;

	return sim->arrived > sim->target && later > LATER_ARRIVALS_MAX &&
	       later / LATER_ARRIVALS_EACH > sim->target;
}

static void set_class(const struct sim_input *input, struct io_request *io, u32 process)
{
	io->weight = input->weight ? input->weight[process] : IO_WEIGHT_DEFAULT;
	io->io_class =
		input->io_class ? input->io_class[process] : IO_CLASS_BEST_EFFORT;
	io->level = input->level ? input->level[process] : IO_LEVEL_DEFAULT;
}

/* Something is asked for; NULL if there is no room for it. */
static struct bio *arrive(struct sim *sim, u32 process, u64 sector, u32 sectors)
{
	const struct step *step = &sim->process[process].step;
	struct pending *pending = take_free(sim);

	if (!pending)
		return NULL;
	pending->bio = (struct bio){
		.arrival_ns = sim->now_ns,
		.sector = sector,
		.row = measure_arrival(sim),
		.sectors = sectors,
		.owner = step->owner,
		.process = process,
	};
	sim->arrived++;
	sim->hits_in_a_row = 0;
	if (is_starved(sim))
		sim->error = -ETIMEDOUT;
	pending->io = (struct io_request){
		.sector = sector,
		.arrival_ns = sim->now_ns,
		.id = sim->arrived,
		.cost_ns = device_cost_ns(&sim->device, step->cost_ns),
		.sectors = sectors,
		.owner = step->owner,
		.op = step->op,
	};
	set_class(sim->input, &pending->io, process);
	elevator_add(&sim->elevator, pending, sim->now_ns);
	sim->settled = false;
	return &pending->bio;
}

/* The device. */

static void start(struct sim *sim, struct pending *pending)
{
	sim->refusals = 0;
	pending->dispatch_ns = sim->now_ns;
	pending->idle_ns = sim->in_service ? 0 : sim->now_ns - sim->idle_since_ns;
	pending->service = device_serve(&sim->device, &pending->io, sim->now_ns);
	sim->in_service++;
	schedule(sim, pending->service.start_ns + pending->service.model_ns,
		 EVENT_COMPLETION, pending - sim->pool);
}

/* The scheduler gave nothing: nothing more happens to it before it changes its mind. */
static void refused(struct sim *sim, u64 wake_ns)
{
	sim->settled = true;
	if (contract_is_broken(&sim->elevator.contract))
		sim->error = -EPROTO;
	else if (++sim->refusals > REFUSALS_IN_A_ROW_MAX)
		sim->error = -EDEADLK;
	if (wake_ns > sim->now_ns)
		enquire_at(sim, wake_ns);
}

/* Fill the device, as far as the scheduler has something for it. */
static void dispatch(struct sim *sim)
{
	while (!sim->settled && sim->elevator.contract.pending &&
	       sim->in_service < sim->input->depth) {
		struct pending *pending;
		u64 wake_ns;

		if (sim->now_ns < sim->ready_ns) {
			enquire_at(sim, sim->ready_ns);
			return;
		}
		pending = elevator_next(&sim->elevator, sim->now_ns, &wake_ns);
		if (pending)
			start(sim, pending);
		else
			refused(sim, wake_ns);
	}
}

/* Processes. */

/* The times between the steps of an open workload are its own. */
static u64 ask_ns(const struct sim *sim)
{
	return sim->workload->open ? 0 : sim->input->ask_ns;
}

static void next_step(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];

	process->done = 0;
	if (!sim->workload->step(sim->workload_state, i, &process->step))
		return;
	if (process->step.think_ns > TIME_MAX_NS)
		sim->error = -ETIME;
	else
		schedule(sim, sim->now_ns + process->step.think_ns + ask_ns(sim),
			 EVENT_ASK, i);
}

static void answered(struct sim *sim, u32 i)
{
	if (--sim->process[i].outstanding || sim->workload->open)
		return;
	next_step(sim, i);
}

/* A file past the page cache: a request for each piece on the disk. */
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
		if (!arrive(sim, i, sector, run))
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

/* The page cache wants pages: a request for each piece on the disk. */
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
		bio = arrive(sim, i, sector, run * page_sectors);
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

	schedule(sim, sim->now_ns, EVENT_RESUME, i);
}

/* Many of them while the disk has nothing to do: it will not get anything any more. */
static void count_hit(struct sim *sim)
{
	sim->summary->page_hits++;
	if (sim->elevator.contract.pending || sim->in_service)
		return;
	if (++sim->hits_in_a_row > with_processes(sim, HITS_IN_A_ROW_MAX))
		sim->error = -ENODATA;
}

/* Page by page: go on until one has to be waited for. */
static void ask_page_cache(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];
	const struct step *step = &process->step;
	u32 page_sectors = sim->input->cache.page_sectors;

	while (process->done < step->sectors && !sim->error) {
		u64 at = step->sector + process->done;

		if (!page_cache_read(&sim->pages, i, step->file, at / page_sectors,
				     pages_of(sim, step->file))) {
			sim->summary->page_misses++;
			return;
		}
		count_hit(sim);
		process->done += page_sectors - at % page_sectors;
	}
	if (!sim->error)
		next_step(sim, i);
}

static void ask(struct sim *sim, u32 i)
{
	struct process *process = &sim->process[i];
	const struct step *step = &process->step;

	if (step->file != NO_FILE && sim->pages.pages) {
		ask_page_cache(sim, i);
		return;
	}
	if (step->file != NO_FILE)
		ask_file(sim, i);
	else if (arrive(sim, i, step->sector, step->sectors))
		process->outstanding++;
	if (sim->workload->open && !sim->error)
		next_step(sim, i);
}

/* To those who asked for it. */
static void hand_back(struct sim *sim, struct pending *pending)
{
	for (; pending; pending = pending->next) {
		const struct bio *bio = &pending->bio;

		if (bio->pages)
			page_cache_filled(&sim->pages, bio->file, bio->page,
					  bio->pages);
		else
			answered(sim, bio->process);
		give_back(sim, pending);
	}
}

static void complete(struct sim *sim, u32 i)
{
	struct pending *pending = &sim->pool[i];

	measure_completion(sim->input, sim->summary, pending, sim->now_ns,
			   sim->last_completion_ns);
	sim->last_completion_ns = sim->now_ns;
	sim->settled = false;
	sim->ready_ns = sim->now_ns + sim->input->gap_ns;
	if (!--sim->in_service)
		sim->idle_since_ns = sim->now_ns;
	elevator_completed(&sim->elevator, pending, sim->now_ns);
	hand_back(sim, pending);
}

/* The loop. */

static void handle(struct sim *sim, struct event event)
{
	switch ((enum event_kind)event.priority) {
	case EVENT_COMPLETION:
		complete(sim, event.id);
		break;
	case EVENT_ASK:
		ask(sim, event.id);
		break;
	case EVENT_RESUME:
		ask_page_cache(sim, event.id);
		break;
	case EVENT_ENQUIRE:
		sim->settled = false;
		break;
	}
}

/* Everything that happens at one instant. */
static void advance(struct sim *sim)
{
	u64 left = with_processes(sim, EVENTS_AT_ONCE_MAX);

	sim->now_ns = event_queue_first(&sim->events)->time_ns;
	do {
		sim->input->watch->events++;
		handle(sim, event_queue_take(&sim->events));
		if (!--left)
			sim->error = -ELOOP;
	} while (!sim->error && sim->events.count &&
		 event_queue_first(&sim->events)->time_ns == sim->now_ns);
}

static int simulate(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->input->world.processes && !sim->error; i++)
		next_step(sim, i);
	while (!sim->error && sim->summary->completed < sim->target &&
	       sim->events.count) {
		advance(sim);
		if (!sim->error)
			dispatch(sim);
	}
	return sim->error;
}

/* Setting up and taking down. */

static int init_workload(struct sim *sim)
{
	const struct workload *workload = sim->workload;

	sim->workload_state = port_zalloc(workload->state_size);
	if (!sim->workload_state)
		return -ENOMEM;
	fields_set(sim->workload_state, workload->parameters, workload->nr_parameters,
		   sim->input->parameters);
	return workload->init(sim->workload_state, &sim->input->world);
}

static void exit_workload(struct sim *sim)
{
	if (!sim->workload_state)
		return;
	sim->workload->exit(sim->workload_state);
	port_free(sim->workload_state);
}

static int init_pool(struct sim *sim)
{
	u32 count = sim->input->max_pending;
	u32 i;

	sim->pool = port_zalloc(count * sizeof(*sim->pool));
	sim->process = port_zalloc(sim->input->world.processes * sizeof(*sim->process));
	if (!sim->pool || !sim->process)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		sim->pool[i].next_free = i + 1;
	return event_queue_init(&sim->events, sim->input->world.processes + 64);
}

/* A cache need not be larger than all files, at least one page. */
static u64 pages_of_all(const struct sim *sim)
{
	const struct layout *layout = &sim->input->world.layout;
	u64 pages = 0;
	u64 i;

	for (i = 0; layout->files && i < layout->first[layout->files]; i++)
		pages += layout->length[i] / sim->input->cache.page_sectors;
	return pages ?: 1;
}

static int init_pages(struct sim *sim)
{
	const struct sim_cache *cache = &sim->input->cache;
	u64 pages, most;

	if (!cache->bytes)
		return 0;
	most = pages_of_all(sim);
	pages = cache->bytes / (512ull * cache->page_sectors);
	sim->pages = (struct page_cache){
		.pages = pages < most ? pages : most,
		.read_ahead_pages = cache->read_ahead_pages,
		.fetch = fetch_pages,
		.wake = wake_process,
		.context = sim,
	};
	return page_cache_init(&sim->pages, sim->input->world.processes);
}

static int set_up(struct sim *sim)
{
	const struct sim_input *input = sim->input;

	return init_pool(sim)
		       ?: device_init(&sim->device, input->drive, &input->array,
				      input->depth, input->world.seed)
		       ?: init_pages(sim)
		       ?: elevator_init(&sim->elevator, input, sim->pool)
		       ?: init_workload(sim);
}

static void take_down(struct sim *sim)
{
	exit_workload(sim);
	elevator_exit(&sim->elevator, sim->summary);
	page_cache_exit(&sim->pages);
	device_exit(&sim->device);
	event_queue_exit(&sim->events);
	port_free(sim->process);
	port_free(sim->pool);
}

int sim_run(const struct sim_input *input, struct sim_summary *summary)
{
	struct sim sim = {
		.input = input,
		.summary = summary,
		.workload = input->workload,
		.wake_ns = U64_MAX,
		.target = input->requests,
	};
	int error = set_up(&sim) ?: simulate(&sim);

	take_down(&sim);
	return error;
}
