// SPDX-License-Identifier: MIT
/*
 * SFQ(D) against the paper's equations, with tags assigned at arrival and a search through all
 * requests; then its guarantees.
 */
#include "sfq_host.h"

#define TAG_BITS 16
#define OWNERS 6

static struct printed {
	u64 start[HOST_REQUESTS];
	u64 finish[OWNERS]; /* of each class' last request */
	u64 virtual_time;
} printed;
static u64 depth;

static u64 tag_of(const struct io_request *rq)
{
	return (rq->cost_ns << TAG_BITS) / rq->weight;
}

static void set_cost(struct host *h, struct draw *draw, struct io_request *rq)
{
	rq->weight = 1 + 50 * rq->owner;
	rq->cost_ns = MS / 10 + draw_below(draw, 4) * MS;
}

static void see_arrival(struct host *h, const struct io_request *rq)
{
	u64 start = printed.finish[rq->owner];

	if (start < printed.virtual_time)
		start = printed.virtual_time;
	printed.start[rq->id] = start;
	printed.finish[rq->owner] = start + tag_of(rq);
}

static void see_pick(struct host *h, const struct io_request *rq)
{
	u32 i;

	if (!rq) {
		CHECK(!h->nr_pending || h->in_service == depth);
		return;
	}
	CHECK(h->in_service <= depth);
	for (i = 0; i < h->count; i++)
		CHECK(!h->pending[i] || printed.start[i] > printed.start[rq->id] ||
		      (printed.start[i] == printed.start[rq->id] && i > rq->id));
	printed.virtual_time = printed.start[rq->id];
}

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 400,
		.owners = 1 + draw_below(draw, OWNERS),
		.gap_ns = draw_below(draw, 3 * MS),
		.sectors = HOST_CAPACITY,
		.arriving = set_cost,
		.added = see_arrival,
		.picked = see_pick,
	};

	depth = 1 + draw_below(draw, 8);
	printed = (struct printed){ .virtual_time = 0 };
	begin(depth);
	host_run(&host, draw, &load);
	host_exit(&host);
}

/*
 * Fairness.  Fairness.  Take two owners with requests always pending, and the service given to
 * each, divided by its weight.  The difference between the two grows in any interval by at most
 * (depth + 1) (longest cost of a / weight of a + longest cost of b / weight of b).  An estimate
 * that is settled later counts as a cost.
 */

static struct account {
	u64 given[2]; /* in units of a tag */
	u64 longest[2];
	s64 lowest, highest; /* extremes of the difference between the two */
} account;

static void give(const struct io_request *rq, u64 cost_ns, u64 longest_ns)
{
	u64 longest = (longest_ns << TAG_BITS) / rq->weight;
	s64 ahead;

	account.given[rq->owner] += (cost_ns << TAG_BITS) / rq->weight;
	if (account.longest[rq->owner] < longest)
		account.longest[rq->owner] = longest;
	ahead = account.given[0] - account.given[1];
	if (account.lowest > ahead)
		account.lowest = ahead;
	if (account.highest < ahead)
		account.highest = ahead;
}

static void check_fair(u64 times)
{
	u64 longest = account.longest[0] + account.longest[1];
	u64 roundings = 2 * HOST_REQUESTS;

	CHECK(account.highest - account.lowest <= (s64)(times * longest + roundings));
}

struct closed_load {
	u32 weight[2];
	u64 longest_ns[2];
	bool known; /* costs are known in advance, and many requests are in service */
	u64 estimate_ns; /* if not */
};

static struct io_request *in_service[32];
static u32 nr_in_service;

/* Requests of unknown cost are served one at a time, and charged their service time. */
static void end_one(struct draw *draw, const struct closed_load *load)
{
	u32 i = load->known ? draw_below(draw, nr_in_service) : 0;
	struct io_request *rq = in_service[i];
	u64 longest_ns = load->longest_ns[rq->owner];
	u64 took_ns = 1 + draw_below(draw, longest_ns);

	nr_in_service--;
	for (; i < nr_in_service; i++)
		in_service[i] = in_service[i + 1];
	host_finish(&host, rq, took_ns);
	if (load->known)
		give(rq, rq->cost_ns, rq->cost_ns);
	else if (longest_ns > load->estimate_ns)
		give(rq, took_ns, longest_ns);
	else
		give(rq, took_ns, load->estimate_ns);
}

static void another(struct draw *draw, const struct closed_load *load, u32 owner)
{
	u64 cost_ns = 1 + draw_below(draw, load->longest_ns[owner]);

	costing(owner, load->known ? cost_ns : 0, load->weight[owner]);
}

static void run_closed(struct draw *draw, const struct closed_load *load)
{
	u32 i;

	account = (struct account){ .lowest = 0 };
	nr_in_service = 0;
	for (i = 0; i < 8; i++)
		another(draw, load, i % 2);
	while (host.count < HOST_REQUESTS) {
		struct io_request *rq = host_ask(&host);

		CHECK(rq || host.in_service == depth);
		if (rq) {
			in_service[nr_in_service++] = rq;
			another(draw, load, rq->owner);
		} else {
			end_one(draw, load);
		}
	}
}

static void shares_are_fair(struct draw *draw)
{
	struct closed_load load = {
		.weight = { 1 + draw_below(draw, 20), 1 + draw_below(draw, 1000) },
		.longest_ns = { 1 + draw_below(draw, 9 * MS),
				1 + draw_below(draw, 3 * MS) },
		.estimate_ns = 1 + draw_below(draw, 9 * MS),
		.known = draw_below(draw, 2),
	};

	depth = 1 + draw_below(draw, ARRAY_SIZE(in_service));
	begin(depth);
	host_set(&host, "cost_request_ns", load.estimate_ns);
	host_set(&host, "cost_sector_ns", 0);
	run_closed(draw, &load);
	check_fair(depth + 1);
	host_exit(&host);
}

int main(void)
{
	check_seeds(400, random_case);
	check_seeds(300, shares_are_fair);
	return 0;
}
