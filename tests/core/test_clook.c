// SPDX-License-Identifier: MIT
/* C-LOOK and FCFS against their definitions, and schedules by hand. */
#include "host.h"

static struct host host;
static u64 head;

/* Rank in C-LOOK's order: what is ahead, ascending, then what is behind. */
static bool clook_before(const struct io_request *a, const struct io_request *b)
{
	bool a_behind = a->sector < head;
	bool b_behind = b->sector < head;

	if (a_behind != b_behind)
		return b_behind;
	return a->sector < b->sector || (a->sector == b->sector && a->id < b->id);
}

static bool fcfs_before(const struct io_request *a, const struct io_request *b)
{
	return a->id < b->id;
}

static bool (*before)(const struct io_request *a, const struct io_request *b);

static void check_pick(struct host *h, const struct io_request *rq)
{
	u32 i;

	if (!rq)
		return;
	CHECK_EQ(rq->reason, PICK_ORDER);
	for (i = 0; i < h->count; i++)
		CHECK(!h->pending[i] || before(rq, &h->request[i]));
	head = request_end(rq);
}

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 200,
		.owners = 4,
		.writes_percent = 30,
		.merges_percent = 20,
		.gap_ns = draw_below(draw, 6 * MS),
		.sectors = draw_below(draw, 2) ? 100 : HOST_CAPACITY,
		.picked = check_pick,
	};

	head = 0;
	before = clook_before;
	host_init(&host, "clook");
	host_run(&host, draw, &load);
	host_exit(&host);
	before = fcfs_before;
	host_init(&host, "fcfs");
	host_run(&host, draw, &load);
	host_exit(&host);
}

/* Ten requests for these sectors, two sectors long, then all of them served. */
static void expect(const char *scheduler, const u64 *golden)
{
	static const u64 sector[] = { 50, 10, 90, 50, 70, 0, 51, 52, 99, 10 };
	u32 i;

	host_init(&host, scheduler);
	host_expect(&host, host_add(&host, IO_READ, 48, 2, 0), PICK_ORDER, MS);
	for (i = 0; i < ARRAY_SIZE(sector); i++)
		host_add(&host, i % 3 == 2, sector[i], 2, 0);
	for (i = 0; i < ARRAY_SIZE(sector); i++)
		host_expect(&host, &host.request[1 + golden[i]], PICK_ORDER, MS);
	if (before == clook_before)
		CHECK_EQ(host_counter(&host, "wraps"), 2);
	host_exit(&host);
}

int main(void)
{
	/* The first request for 50 ends at 52: the second, and 51, are behind it. */
	before = clook_before;
	expect("clook", (u64[]){ 0, 7, 4, 2, 8, 5, 1, 3, 9, 6 });
	before = fcfs_before;
	expect("fcfs", (u64[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 });
	check_seeds(300, random_case);
	return 0;
}
