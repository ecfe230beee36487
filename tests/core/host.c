// SPDX-License-Identifier: MIT
#include <string.h>

#include "schedulers.h"
#include "host.h"

static void is_kept(const struct host *host)
{
	CHECK_RULE(!contract_is_broken(&host->contract), host->contract.broken);
}

/* Positioning time on the disk of a random load, which grows with the seek distance. */
u64 host_positioning_ns(void *of, const struct io_request *rq, u64 now_ns)
{
	const struct host *host = of;
	u64 way = rq->sector > host->head ? rq->sector - host->head
					  : host->head - rq->sector;

	return MS / 4 + way * 5 * MS / host->capacity_sectors;
}

static void init(struct host *host, const char *scheduler, u64 capacity_sectors,
		 u32 depth)
{
	struct sched_limits limits = {
		.capacity_sectors = capacity_sectors,
		.max_requests = HOST_PENDING,
		.positioning_ns = host_positioning_ns,
		.device = host,
	};

	check_scheduler = scheduler;
	memset(host, 0, sizeof(*host));
	host->scheduler = registry_find(scheduler);
	CHECK(host->scheduler);
	limits.depth = depth ?: sched_depth(host->scheduler);
	host->state = registry_new_state(host->scheduler);
	CHECK(host->state);
	host->depth = limits.depth;
	CHECK_EQ(contract_init(&host->contract, host->scheduler, host->state, &limits,
			       host->request, sizeof(host->request[0]), HOST_REQUESTS),
		 0);
	CHECK(!contract_has_work(&host->contract));
	is_kept(host);
	host->capacity_sectors = capacity_sectors;
}

void host_init_on(struct host *host, const char *scheduler, u64 capacity_sectors)
{
	init(host, scheduler, capacity_sectors, 0);
}

void host_init_deep(struct host *host, const char *scheduler, u32 depth)
{
	init(host, scheduler, HOST_CAPACITY, depth);
}

void host_init(struct host *host, const char *scheduler)
{
	host_init_on(host, scheduler, HOST_CAPACITY);
}

void host_exit(struct host *host)
{
	contract_exit(&host->contract);
	port_free(host->state);
}

static u64 *field(const struct host *host, const struct sched_field *fields, u32 n,
		  const char *name)
{
	u32 i = 0;

	while (i < n && strcmp(fields[i].name, name))
		i++;
	CHECK(i < n);
	return sched_field_value(host->state, &fields[i]);
}

void host_set(struct host *host, const char *tunable, u64 value)
{
	*field(host, host->scheduler->tunables, host->scheduler->nr_tunables, tunable) =
		value;
	contract_tuned(&host->contract);
}

u64 host_counter(const struct host *host, const char *counter)
{
	return *field(host, host->scheduler->counters, host->scheduler->nr_counters,
		      counter);
}

static u32 index_of(const struct host *host, const struct io_request *rq)
{
	CHECK(rq >= host->request && rq < host->request + host->count);
	return rq - host->request;
}

void host_put_back(struct host *host, struct io_request *rq)
{
	CHECK(host->nr_pending < HOST_PENDING);
	if (request_end(rq) > host->capacity_sectors) {
		host->capacity_sectors = request_end(rq);
		contract_grown(&host->contract, host->capacity_sectors);
	}
	contract_add(&host->contract, rq, host->now_ns);
	host->pending[index_of(host, rq)] = true;
	host->nr_pending++;
}

static void dequeue(struct host *host, const struct io_request *rq)
{
	u32 i = index_of(host, rq);

	CHECK(host->pending[i]);
	host->pending[i] = false;
	host->nr_pending--;
}

struct io_request *host_new(struct host *host, u8 op, u64 sector, u32 sectors,
			    u32 owner)
{
	struct io_request *rq = &host->request[host->count];

	CHECK(host->count < HOST_REQUESTS);
	*rq = (struct io_request){
		.sector = sector,
		.arrival_ns = host->now_ns,
		.id = host->count++,
		.sectors = sectors,
		.owner = owner,
		.op = op,
		.weight = IO_WEIGHT_DEFAULT,
		.io_class = IO_CLASS_BEST_EFFORT,
		.level = IO_LEVEL_DEFAULT,
	};
	return rq;
}

struct io_request *host_add(struct host *host, u8 op, u64 sector, u32 sectors,
			    u32 owner)
{
	struct io_request *rq = host_new(host, op, sector, sectors, owner);

	host_put_back(host, rq);
	return rq;
}

void host_take_back(struct host *host, struct io_request *rq)
{
	contract_remove(&host->contract, rq);
	dequeue(host, rq);
}

void host_grow(struct host *host, struct io_request *rq, u32 by)
{
	host_take_back(host, rq);
	rq->sectors += by;
	host_put_back(host, rq);
}

void host_unite(struct host *host, struct io_request *rq, struct io_request *gone)
{
	host_take_back(host, rq);
	host_take_back(host, gone);
	rq->sectors += gone->sectors;
	if (gone->id < rq->id) {
		rq->id = gone->id;
		rq->arrival_ns = gone->arrival_ns;
	}
	host_put_back(host, rq);
}

struct io_request *host_ask(struct host *host)
{
	struct io_request *rq;

	CHECK(host->in_service < host->depth);
	rq = contract_next(&host->contract, host->now_ns, &host->wake_ns);
	is_kept(host);
	if (rq) {
		dequeue(host, rq);
		host->in_service++;
	}
	return rq;
}

struct io_request *host_ask_more(struct host *host, const struct io_request *chosen)
{
	struct io_request *rq = contract_more(&host->contract, chosen, host->now_ns);

	is_kept(host);
	if (rq)
		dequeue(host, rq);
	return rq;
}

void host_finish(struct host *host, const struct io_request *rq, u64 service_ns)
{
	host->now_ns += service_ns;
	host->due_ns[index_of(host, rq)] = 0;
	host->in_service -= !rq->joined;
	contract_completed(&host->contract, rq, host->now_ns);
}

void host_expect_at(const char *file, int line, struct host *host,
		    const struct io_request *rq, enum pick_reason reason,
		    u64 service_ns)
{
	struct io_request *got = host_ask(host);

	if (!got)
		check_fail(file, line, "nothing, not request %d", (int)rq->id);
	if (got != rq || got->reason != reason)
		check_fail(file, line,
			   "request %d, reason %d, not request %d, reason %d",
			   (int)got->id, got->reason, (int)rq->id, reason);
	host_finish(host, got, service_ns);
}

/* Merge a pending request: take it back, grow it, or unite it with another. */
static bool merge(struct host *host, struct draw *draw, const struct host_load *load,
		  struct io_request *rq)
{
	struct io_request *gone = NULL;

	if (load->removed)
		load->removed(host, rq);
	if (!draw_below(draw, 2)) {
		host_grow(host, rq, 1 + draw_below(draw, 8));
		return true;
	}
	if (load->unites_percent && draw_below(draw, 100) < load->unites_percent)
		gone = &host->request[draw_below(draw, host->count)];
	if (!gone || gone == rq || !host->pending[gone - host->request]) {
		host_take_back(host, rq);
		return false;
	}
	if (load->removed)
		load->removed(host, gone);
	host_unite(host, rq, gone);
	return true;
}

/* Let one request arrive: either a new request or one that merges with a pending request. */
static void random_arrival(struct host *host, struct draw *draw,
			   const struct host_load *load)
{
	u32 i = draw_below(draw, host->count + 1);
	struct io_request *rq = &host->request[i];

	if (host->pending[i] && draw_below(draw, 100) < load->merges_percent) {
		if (!merge(host, draw, load, rq))
			return;
	} else {
		rq = host_new(host, draw_below(draw, 100) < load->writes_percent,
			      draw_below(draw, load->sectors), 1 + draw_below(draw, 16),
			      draw_below(draw, load->owners));
		if (load->arriving)
			load->arriving(host, draw, rq);
		host_put_back(host, rq);
	}
	if (load->added)
		load->added(host, rq);
}

static u64 service_ns(const struct host *host, const struct host_load *load,
		      const struct io_request *rq)
{
	u64 way = rq->sector > host->head ? rq->sector - host->head
					  : host->head - rq->sector;

	return MS / 4 + way * 5 * MS / load->sectors;
}

static bool is_full(const struct host *host)
{
	return host->in_service == host->depth;
}

/* Return the request in service that is due first; there must be one. */
static struct io_request *first_due(struct host *host)
{
	struct io_request *first = NULL;
	u32 i;

	for (i = 0; i < host->count; i++) {
		if (host->due_ns[i] &&
		    (!first || host->due_ns[i] < host->due_ns[first - host->request]))
			first = &host->request[i];
	}
	return first;
}

/*
 * Advance to the earliest of the next completion, the scheduler's wake-up and until_ns.  If the
 * depth is reached, always advance to the completion.
 */
static void pass_time(struct host *host, u64 until_ns)
{
	struct io_request *rq = host->in_service ? first_due(host) : NULL;
	u64 due_ns = rq ? host->due_ns[rq - host->request] : U64_MAX;

	if (host->wake_ns && host->wake_ns < until_ns)
		until_ns = host->wake_ns;
	if (rq && (is_full(host) || due_ns <= until_ns))
		host_finish(host, rq, due_ns - host->now_ns);
	else
		host->now_ns = until_ns;
}

/*
 * Begin one request, or let time pass if the scheduler chooses none or the depth is reached.  In
 * the latter case time advances to a completion, and requests due before then arrive late.
 */
static void serve_one(struct host *host, const struct host_load *load, u64 until_ns)
{
	struct io_request *rq = host_ask(host);

	if (load->picked)
		load->picked(host, rq);
	if (rq) {
		host->due_ns[rq - host->request] =
			host->now_ns + service_ns(host, load, rq);
		host->head = request_end(rq);
	}
	if (!rq || is_full(host))
		pass_time(host, until_ns);
}

void host_run(struct host *host, struct draw *draw, const struct host_load *load)
{
	u64 arrival_ns = 0;
	u32 i;

	for (i = 0; i < load->requests; i++) {
		arrival_ns += draw_below(draw, 2 * load->gap_ns + 1);
		while (host->now_ns < arrival_ns)
			serve_one(host, load, arrival_ns);
		while (host->nr_pending == HOST_PENDING)
			serve_one(host, load, U64_MAX);
		random_arrival(host, draw, load);
	}
	while (host->nr_pending || host->in_service)
		serve_one(host, load, U64_MAX);
	CHECK(!host_ask(host));
}
