// SPDX-License-Identifier: MIT
/*
 * Properties of every scheduler, including a newly written one.  It keeps the contract, which the
 * host checks, and its declaration is sensible.  A failure names the scheduler and the rule.
 */
#include "schedulers.h"
#include "host.h"

static const char *scheduler;
static struct host disk = { .capacity_sectors = HOST_CAPACITY };

/* Set a random priority and weight, and a cost that may be known. */
static void set_priority(struct host *host, struct draw *draw, struct io_request *rq)
{
	rq->io_class = 1 + draw_below(draw, IO_CLASS_IDLE);
	rq->level = draw_below(draw, IO_LEVELS);
	rq->weight = 1 + draw_below(draw, 1000);
	rq->cost_ns = draw_below(draw, 2) * draw_below(draw, 10 * MS);
}

static void random_case(struct draw *draw)
{
	static struct host host;
	struct host_load load = {
		.requests = 1 + draw_below(draw, 300),
		.owners = 1 + draw_below(draw, 8),
		.writes_percent = draw_below(draw, 101),
		.merges_percent = draw_below(draw, 50),
		.unites_percent = 50,
		.arriving = set_priority,
		.gap_ns = draw_below(draw, 20 * MS),
		.sectors =
			1 + draw_below(draw, draw_below(draw, 2) ? 300 : HOST_CAPACITY),
	};

	host_init(&host, scheduler);
	host_run(&host, draw, &load);
	host_exit(&host);
}

/* The disk has any size, or none yet, and grows to another size. */
static void growing_case(struct draw *draw)
{
	static struct host host;
	u64 first = draw_below(draw, 1ull << draw_below(draw, 55));
	struct host_load load = {
		.requests = 1 + draw_below(draw, 100),
		.owners = 3,
		.writes_percent = 30,
		.merges_percent = 20,
		.gap_ns = draw_below(draw, 20 * MS),
		.sectors = 1ull << draw_below(draw, 60),
	};

	host_init_on(&host, scheduler, draw_below(draw, 4) ? first : 0);
	host_run(&host, draw, &load);
	host_exit(&host);
}

/*
 * Many more processes than a scheduler can remember.  The calls bypass the host, which has too few
 * requests.  Each request is served once, unless it is taken back.
 */

#define CROWD 20000

static struct crowd {
	struct io_request request[HOST_PENDING];
	bool pending[HOST_PENDING];
	u64 arrived, served, taken_back;
	u64 now_ns;
} crowd;

static void crowd_arrives(struct draw *draw, const struct scheduler *s, void *state)
{
	u32 i = draw_below(draw, HOST_PENDING);
	struct io_request *rq = &crowd.request[i];

	if (crowd.pending[i]) {
		s->remove(state, rq);
		crowd.taken_back++;
	}
	*rq = (struct io_request){
		.sector = draw_below(draw, HOST_CAPACITY),
		.arrival_ns = crowd.now_ns,
		.id = crowd.arrived++,
		.sectors = 8,
		.owner = draw_below(draw, draw_below(draw, 2) ? 10 : CROWD),
		.weight = IO_WEIGHT_DEFAULT,
		.io_class = 1 + draw_below(draw, IO_CLASS_IDLE),
		.op = !draw_below(draw, 4),
	};
	s->add(state, rq, crowd.now_ns);
	crowd.pending[i] = true;
}

static void crowd_is_served(const struct scheduler *s, void *state)
{
	u64 wake_ns = 0;
	struct io_request *rq = s->next(state, crowd.now_ns, &wake_ns);

	if (!rq) {
		CHECK(!s->has_work(state) || wake_ns > crowd.now_ns);
		crowd.now_ns = wake_ns;
		return;
	}
	CHECK(crowd.pending[rq - crowd.request]);
	crowd.pending[rq - crowd.request] = false;
	crowd.served++;
	crowd.now_ns += MS;
	if (s->completed)
		s->completed(state, rq, crowd.now_ns);
}

static void crowded_case(struct draw *draw)
{
	struct sched_limits limits = {
		.capacity_sectors = HOST_CAPACITY,
		.max_requests = HOST_PENDING,
		.positioning_ns = host_positioning_ns,
		.device = &disk,
	};
	const struct scheduler *s = registry_find(scheduler);
	void *state = registry_new_state(s);

	if (s->init)
		CHECK_EQ(s->init(state, &limits), 0);
	crowd = (struct crowd){ .now_ns = 1 };
	while (crowd.arrived < CROWD) {
		crowd_arrives(draw, s, state);
		if (draw_below(draw, 2))
			crowd_is_served(s, state);
	}
	while (s->has_work(state))
		crowd_is_served(s, state);
	CHECK_EQ(crowd.served + crowd.taken_back, crowd.arrived);
	if (s->exit)
		s->exit(state);
	port_free(state);
}

static void check_description(const struct scheduler *s)
{
	char broken[CONTRACT_TEXT];

	CHECK_RULE(contract_check_declaration(s, broken), broken);
	CHECK_RULE(registry_find(s->name) == s, "another scheduler has its name");
}

/* Each allocation of init fails once; nothing leaks, and no failed allocation is used. */
static void no_memory(const struct scheduler *s)
{
	struct sched_limits limits = {
		.capacity_sectors = HOST_CAPACITY,
		.max_requests = HOST_PENDING,
		.positioning_ns = host_positioning_ns,
		.device = &disk,
	};
	int error = -ENOMEM;
	u32 granted;

	for (granted = 0; error; granted++) {
		void *state = registry_new_state(s);

		port_grant(granted);
		error = s->init ? s->init(state, &limits) : 0;
		CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
		if (!error && s->exit)
			s->exit(state);
		port_free(state);
	}
}

/* A scheduler that computes costs of orders refuses limits that would overflow 64 bits. */
static void too_far(void)
{
	struct sched_limits limits = { .capacity_sectors = 1ull << 48,
				       .max_requests = 1 << 15 };
	const struct scheduler *s = registry_find("cats");
	void *state = registry_new_state(s);

	CHECK_EQ(s->init(state, &limits), -EINVAL);
	port_free(state);
}

static void try(const struct scheduler *s)
{
	scheduler = check_scheduler = s->name ?: "without a name";
	check_rule = "what it declares";
	check_description(s);
	check_rule = "init fails cleanly where memory ends";
	no_memory(s);
	check_rule = "each request is served once";
	check_seeds(200, random_case);
	check_rule = "each request is served once, on a disk that grows";
	check_seeds(200, growing_case);
	check_rule =
		"each request is served once, with more owners than are remembered";
	check_seeds(2, crowded_case);
	check_scheduler = check_rule = NULL;
}

int main(void)
{
	u32 i;

	CHECK(scheduler_count() >= 4);
	CHECK(!registry_find("nobody"));
	too_far();
	for (i = 0; i < scheduler_count(); i++)
		try(scheduler_get(i));
	return 0;
}
