// SPDX-License-Identifier: MIT
#include <string.h>

#include "../../sim/registry.h"
#include "host.h"

void host_init(struct host *host, const char *scheduler)
{
	struct sched_limits limits = { HOST_CAPACITY, HOST_PENDING };

	memset(host, 0, sizeof(*host));
	host->scheduler = registry_find(scheduler);
	CHECK(host->scheduler);
	host->state = registry_new_state(host->scheduler);
	CHECK(host->state);
	if (host->scheduler->init)
		CHECK_EQ(host->scheduler->init(host->state, &limits), 0);
	CHECK(!host->scheduler->has_work(host->state));
}

void host_exit(struct host *host)
{
	if (host->scheduler->exit)
		host->scheduler->exit(host->state);
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
}

u64 host_counter(const struct host *host, const char *counter)
{
	return *field(host, host->scheduler->counters, host->scheduler->nr_counters,
		      counter);
}

void host_put_back(struct host *host, struct io_request *rq)
{
	CHECK(host->nr_pending < HOST_PENDING);
	host->scheduler->add(host->state, rq, host->now_ns);
	host->pending[rq->id] = true;
	host->nr_pending++;
}

static void dequeue(struct host *host, const struct io_request *rq)
{
	CHECK(rq == &host->request[rq->id]);
	CHECK(host->pending[rq->id]);
	host->pending[rq->id] = false;
	host->nr_pending--;
}

struct io_request *host_add(struct host *host, u8 op, u64 sector, u32 sectors,
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
	host_put_back(host, rq);
	return rq;
}

void host_take_back(struct host *host, struct io_request *rq)
{
	host->scheduler->remove(host->state, rq);
	dequeue(host, rq);
}

void host_grow(struct host *host, struct io_request *rq, u32 by)
{
	host_take_back(host, rq);
	rq->sectors += by;
	host_put_back(host, rq);
}

struct io_request *host_ask(struct host *host)
{
	struct io_request *rq;

	host->wake_ns = 0;
	rq = host->scheduler->next(host->state, host->now_ns, &host->wake_ns);
	if (rq) {
		CHECK(rq->reason < PICK_REASONS);
		dequeue(host, rq);
	} else if (host->nr_pending) {
		CHECK(host->wake_ns > host->now_ns);
	}
	CHECK_EQ(host->scheduler->has_work(host->state), host->nr_pending > 0);
	return rq;
}

void host_finish(struct host *host, const struct io_request *rq, u64 service_ns)
{
	host->now_ns += service_ns;
	if (host->scheduler->completed)
		host->scheduler->completed(host->state, rq, host->now_ns);
}

void host_expect_at(int line, struct host *host, const struct io_request *rq,
		    enum pick_reason reason, u64 service_ns)
{
	struct io_request *got = host_ask(host);

	if (!got || got != rq || got->reason != reason) {
		fprintf(stderr, "line %d of the test: %s, not request %d, reason %d\n",
			line, got ? "another choice" : "nothing", (int)rq->id, reason);
		if (got)
			fprintf(stderr, "but request %d, reason %d\n", (int)got->id,
				got->reason);
		abort();
	}
	host_finish(host, got, service_ns);
}

/* One arrival: new, or merged into a pending one, or two pending ones merged. */
static void random_arrival(struct host *host, struct draw *draw,
			   const struct host_load *load)
{
	u32 i = draw_below(draw, host->count + 1);
	struct io_request *rq = &host->request[i];

	if (host->pending[i] && draw_below(draw, 100) < load->merges_percent) {
		if (load->removed)
			load->removed(host, rq);
		if (draw_below(draw, 2)) {
			host_take_back(host, rq);
			return;
		}
		host_grow(host, rq, 1 + draw_below(draw, 8));
	} else {
		rq = host_add(host, draw_below(draw, 100) < load->writes_percent,
			      draw_below(draw, load->sectors), 1 + draw_below(draw, 16),
			      draw_below(draw, load->owners));
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

/* One request, or idle until the scheduler wants to be asked again or until then. */
static void serve_one(struct host *host, const struct host_load *load, u64 until_ns)
{
	struct io_request *rq = host_ask(host);

	if (load->picked)
		load->picked(host, rq);
	if (rq) {
		u64 time_ns = service_ns(host, load, rq);

		host->head = request_end(rq);
		host_finish(host, rq, time_ns);
	} else if (host->wake_ns && host->wake_ns < until_ns) {
		host->now_ns = host->wake_ns;
	} else {
		host->now_ns = until_ns;
	}
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
	while (host->nr_pending)
		serve_one(host, load, U64_MAX);
	CHECK(!host_ask(host));
}
