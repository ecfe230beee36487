// SPDX-License-Identifier: MIT
/*
 * TBBD: the papers' example, then random loads against a naive implementation of its two rules,
 * which searches all requests and takes the order from the papers' table.
 */
#include "by_hand.h"
#include "order_table.h"

static void begin_without_waits(u64 head)
{
	host_init(&host, "tbbd");
	host_set(&host, "busdriver_ns", 0);
	host_expect(&host, host_add(&host, IO_READ, head - 1, 1, 1), PICK_TABLE, MS);
}

/* PERFORM 2010 Table 1; all four requests are planned in one table. */
static void the_papers_example(void)
{
	static const u64 sector[] = { 20, 82, 120, 200 };
	static const u32 best[] = { 2, 1, 0, 3 };
	struct io_request *rq[4];
	u32 i;

	begin_without_waits(100);
	for (i = 0; i < 4; i++)
		rq[i] = host_add(&host, i % 2 ? IO_WRITE : IO_READ, sector[i], 1, i);
	for (i = 0; i < 4; i++)
		host_expect(&host, rq[best[i]], PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 2);
	host_exit(&host);
}

/* The naive implementation. */
static struct naive {
	u64 longest_ns, until_ns, head;
	bool served, waits, held, paid;
	u32 owner; /* of the request served last */
	u32 plan[HOST_PENDING];
	u32 at, count;
	u64 won, lost, plans;
} naive;

static struct order_table table;

/*
 * Called by the first callback after a completion, at the same instant.  At the completion, rq was
 * pending if it is now picked, and was not if it is now added.
 */
static void see_completion(struct host *h, const struct io_request *rq, bool picked)
{
	u32 i;

	if (!naive.served)
		return;
	naive.served = false;
	naive.waits = naive.longest_ns > 0;
	naive.until_ns = h->now_ns + naive.longest_ns;
	for (i = 0; i < h->count; i++) {
		bool pending = rq == &h->request[i] ? picked : h->pending[i];

		if (pending && h->request[i].owner == naive.owner)
			naive.waits = false;
	}
}

static void see_clock(const struct host *h)
{
	if (!naive.waits || h->now_ns < naive.until_ns)
		return;
	naive.waits = false;
	naive.lost += naive.held;
	naive.held = false;
}

static void see_added(struct host *h, const struct io_request *rq)
{
	see_completion(h, rq, false);
	see_clock(h);
	naive.count = naive.at = 0;
	if (!naive.waits || rq->owner != naive.owner)
		return;
	naive.waits = false;
	naive.won += naive.held;
	naive.paid = naive.held;
	naive.held = false;
}

static void see_removed(struct host *h, const struct io_request *rq)
{
	see_completion(h, rq, true);
	naive.count = naive.at = 0;
}

static bool is_before(const struct io_request *a, const struct io_request *b)
{
	return a->sector < b->sector || (a->sector == b->sector && a->id < b->id);
}

static void naive_plan(const struct host *h, const struct io_request *picked)
{
	u32 sorted[HOST_PENDING];
	u32 n = 0;
	u32 i, k;

	for (i = 0; i < h->count; i++) {
		if (!h->pending[i] && picked != &h->request[i])
			continue;
		for (k = n++; k; k--) {
			if (is_before(&h->request[sorted[k - 1]], &h->request[i]))
				break;
			sorted[k] = sorted[k - 1];
		}
		sorted[k] = i;
	}
	for (i = 0; i < n; i++)
		table.position[i] = h->request[sorted[i]].sector;
	order_table_find(&table, n, naive.head);
	for (i = 0; i < n; i++)
		naive.plan[i] = sorted[table.order[i]];
	naive.at = 0;
	naive.count = n;
}

static void see_pick(struct host *h, const struct io_request *rq)
{
	see_completion(h, rq, true);
	if (!rq && !h->nr_pending)
		return;
	see_clock(h);
	CHECK_EQ(!rq, naive.waits);
	if (!rq) {
		CHECK_EQ(h->wake_ns, naive.until_ns);
		naive.held = true;
		return;
	}
	if (naive.at == naive.count) {
		naive_plan(h, rq);
		naive.plans++;
	}
	CHECK_EQ(rq->id, naive.plan[naive.at++]);
	CHECK_EQ(rq->reason, naive.paid ? PICK_WAITED : PICK_TABLE);
	naive.paid = false;
	naive.served = true;
	naive.owner = rq->owner;
	naive.head = request_end(rq);
}

static u64 total_won, total_lost;

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 300,
		.owners = 1 + draw_below(draw, 6),
		.writes_percent = draw_below(draw, 101),
		.merges_percent = draw_below(draw, 30),
		.gap_ns = draw_below(draw, 8 * MS),
		.sectors = draw_below(draw, 2) ? 200 : HOST_CAPACITY,
		.added = see_added,
		.removed = see_removed,
		.picked = see_pick,
	};

	naive = (struct naive){ .longest_ns = draw_below(draw, 9) * MS };
	host_init(&host, "tbbd");
	host_set(&host, "busdriver_ns", naive.longest_ns);
	host_run(&host, draw, &load);
	CHECK_EQ(counter("waits_won"), naive.won);
	CHECK_EQ(counter("waits_lost"), naive.lost);
	CHECK_EQ(counter("tables_built"), naive.plans);
	total_won += naive.won;
	total_lost += naive.lost;
	host_exit(&host);
}

int main(void)
{
	the_papers_example();
	CHECK(order_table_init(&table, HOST_PENDING) == 0);
	check_seeds(300, random_case);
	order_table_exit(&table);
	CHECK(getenv("CHECK_SEED") || (total_won && total_lost));
	return 0;
}
