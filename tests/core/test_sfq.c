// SPDX-License-Identifier: MIT
/* SFQ(D): its rules by hand. */
#include "sfq_host.h"

/* Of unknown cost, 8 sectors. */
static struct io_request *read_of(u32 owner)
{
	return host_add(&host, IO_READ, 1000, 8, owner);
}

/* Expect requests of these owners in this order; each letter is an owner. */
static void expect_owners(const char *letter, u64 service_ns)
{
	for (; *letter; letter++) {
		struct io_request *rq = host_ask(&host);

		CHECK(rq);
		CHECK_EQ(rq->owner, (u32)*letter);
		CHECK_EQ(rq->reason, PICK_ORDER);
		host_finish(&host, rq, service_ns);
	}
}

static void add_costing(u32 owner, u32 n, u64 cost_ns, u32 weight)
{
	while (n--)
		costing(owner, cost_ns, weight);
}

/* An absent owner saves up no service: b does not get three requests in a row. */
static void who_returns_begins_at_virtual_time(void)
{
	begin(1);
	add_costing('a', 6, MS, 100);
	expect_owners("aaaa", MS);
	add_costing('b', 3, MS, 100);
	expect_owners("babab", MS);
	CHECK_EQ(host_counter(&host, "returns"), 1);
	host_exit(&host);
}

static void no_more_than_depth_in_service(void)
{
	struct io_request *first, *second, *third;

	begin(2);
	first = costing('a', MS, 100);
	second = costing('a', MS, 100);
	third = costing('a', MS, 100);
	CHECK(host_ask(&host) == first);
	CHECK(host_ask(&host) == second);
	CHECK(!host_ask(&host));
	CHECK_EQ(host.wake_ns, 0);
	host_finish(&host, second, MS);
	CHECK(host_ask(&host) == third);
	CHECK_EQ(host_counter(&host, "depth_reached"), 1);
	CHECK_EQ(host_counter(&host, "most_in_service"), 2);
	host_finish(&host, first, MS);
	host_finish(&host, third, MS);
	CHECK_EQ(host_counter(&host, "issued"), 3);
	host_exit(&host);
}

static void unknown_cost_is_estimated_by_size(void)
{
	begin(1);
	host_set(&host, "settle", 0);
	host_set(&host, "cost_request_ns", MS);
	host_set(&host, "cost_sector_ns", MS / 8);
	host_add(&host, IO_READ, 1000, 24, 'a');
	read_of('a');
	read_of('b');
	read_of('b');
	read_of('b');
	/* The estimate is 4 ms for a's first request and 2 ms for each other request. */
	expect_owners("abbab", MS);
	host_exit(&host);
}

/* a's first request took 12 ms instead of 5 ms, so b's next two come first. */
static void estimates_are_settled(void)
{
	u32 i;

	begin(1);
	host_set(&host, "cost_sector_ns", 0);
	for (i = 0; i < 4; i++)
		read_of('a');
	for (i = 0; i < 4; i++)
		read_of('b');
	expect_owners("a", 12 * MS);
	expect_owners("bbb", 5 * MS);
	CHECK_EQ(host_counter(&host, "settled_up"), 1);
	expect_owners("a", MS);
	CHECK_EQ(host_counter(&host, "settled_down"), 1);
	expect_owners("aba", 5 * MS);
	host_exit(&host);
}

/*
 * A service of no time still advances its flow, by the smallest unit of a tag. a's first request
 * took no time, and b, whose request came last, precedes a's second.  A cost of 1 ns at the largest
 * weight is six such units; after five, a still precedes it.
 */
static void no_service_is_free(void)
{
	struct io_request *first;
	u32 i;

	begin(1);
	first = read_of('a');
	CHECK(host_ask(&host) == first);
	read_of('a');
	read_of('b');
	host_finish(&host, first, 0);
	expect_owners("ba", 0);
	host_exit(&host);

	begin(1);
	costing('c', 1, 10000);
	costing('c', 1, 10000);
	expect_owners("c", 0);
	for (i = 0; i < 6; i++)
		read_of('a');
	expect_owners("aaaaaac", 0);
	host_exit(&host);
}

/* A request is charged at most half a minute (2^35 ns). */
static void costs_have_a_limit(void)
{
	begin(1);
	add_costing('a', 2, 1ull << 36, 100);
	add_costing('b', 2, 1ull << 35, 100);
	expect_owners("abab", MS);
	host_exit(&host);

	begin(1);
	add_costing('a', 2, 1ull << 35, 100);
	add_costing('b', 4, 1ull << 34, 100);
	expect_owners("abbabb", MS);
	host_exit(&host);
}

/*
 * Two requests are in service.  One completes after 4 ms, the other 5 ms after that.  Each is
 * charged its own share of the device's time.
 */
static void together_they_are_charged_the_time_of_the_device(void)
{
	struct io_request *a, *b;

	begin(2);
	a = read_of('a');
	b = read_of('b');
	CHECK(host_ask(&host) == a);
	CHECK(host_ask(&host) == b);
	read_of('a');
	read_of('a');
	read_of('b');
	host_finish(&host, a, 4 * MS);
	host_finish(&host, b, 5 * MS);
	/* a's next tags are 4 and then 6, b's is 5 */
	expect_owners("a", 2 * MS);
	expect_owners("ba", 2 * MS);
	host_exit(&host);
}

/*
 * ask_more returns requests in the order of tags while these are one owner's; the bundle counts
 * once against the depth.
 */
static void several_may_go_as_one(void)
{
	struct io_request *a[3], *b[2], *rq;

	begin(1);
	a[0] = costing('a', MS, 100);
	b[0] = costing('b', 5 * MS, 100);
	a[1] = costing('a', MS, 100);
	a[2] = costing('a', 9 * MS, 100);
	b[1] = costing('b', MS, 100);
	rq = host_ask(&host);
	CHECK(rq == a[0]);
	CHECK(!host_ask_more(&host, rq)); /* b's tag is 0, a's next tag is 1 ms */
	host_finish(&host, a[0], MS);
	CHECK(host_ask(&host) == b[0]);
	CHECK(!host_ask_more(&host, b[0]));
	host_finish(&host, b[0], MS);
	CHECK(host_ask(&host) == a[1]);
	CHECK(host_ask_more(&host, a[1]) == a[2]);
	CHECK(!host_ask_more(&host, a[1])); /* 5 ms is b's */
	CHECK(!host_ask(&host)); /* the bundle keeps the only slot until a[1] is done */
	host_finish(&host, a[2], MS);
	CHECK(!host_ask(&host));
	host_finish(&host, a[1], 0);
	CHECK(host_ask(&host) == b[1]);
	CHECK(!host_ask_more(&host, b[1])); /* nothing is pending */
	CHECK_EQ(host_counter(&host, "issued"), 5);
	CHECK_EQ(host_counter(&host, "most_in_service"), 1);
	host_finish(&host, b[1], MS);
	host_exit(&host);
}

/* Idle time is not charged to the request that ends it. */
static void an_idle_device_costs_nothing(void)
{
	begin(1);
	read_of('a');
	expect_owners("a", MS);
	host.now_ns += 1000 * MS;
	read_of('a');
	read_of('a');
	read_of('b');
	read_of('b');
	expect_owners("baba", MS);
	host_exit(&host);
}

/* A request merged into another is not charged, and an older request goes first. */
static void merges(void)
{
	struct io_request *a[3], *b;

	begin(1);
	a[0] = costing('a', MS, 100);
	b = costing('b', MS, 100);
	a[1] = costing('a', MS, 100);
	a[2] = costing('a', MS, 100);
	host_expect(&host, a[0], PICK_ORDER, MS);
	host_take_back(&host, b);
	host_grow(&host, a[1], 8);
	host_put_back(&host, b);
	host_expect(&host, b, PICK_ORDER, MS);
	host_unite(&host, a[2], a[1]);
	CHECK_EQ(a[2]->id, 2);
	costing('b', MS, 100);
	expect_owners("ab", MS);
	CHECK_EQ(host.nr_pending, 0);
	host_exit(&host);
}

/* A merge can make the younger of a flow's two requests the older one. */
static void a_merge_may_change_who_is_first_of_a_flow(void)
{
	struct io_request *old, *a, *b, *second;

	begin(1);
	old = costing('c', MS, 100);
	b = costing('b', MS, 100);
	a = costing('a', MS, 100);
	second = costing('a', MS, 100);
	host_unite(&host, second, old);
	host_expect(&host, second, PICK_ORDER, MS);
	host_expect(&host, b, PICK_ORDER, MS);
	host_expect(&host, a, PICK_ORDER, MS);
	host_exit(&host);
}

/*
 * a's first two requests took no time, so the start tag of a's third is below virtual time, 5 ms.
 * Virtual time continues from 5 ms: a new owner does not start at a's older tag.
 */
static void virtual_time_does_not_go_back(void)
{
	struct io_request *a[5];
	u32 i;

	begin(2);
	host_set(&host, "cost_sector_ns", 0);
	for (i = 0; i < 5; i++)
		a[i] = read_of('a');
	CHECK(host_ask(&host) == a[0]);
	CHECK(host_ask(&host) == a[1]);
	host_finish(&host, a[0], 0);
	host_finish(&host, a[1], 0);
	expect_owners("a", 0);
	read_of('c');
	expect_owners("aca", 20 * MS);
	host_exit(&host);
}

/* Add a request and serve it at once.  The calls bypass the host, which has too few requests. */
static void serve_one(struct io_request *rq, u32 owner)
{
	u64 wake_ns;

	rq->owner = owner;
	host.scheduler->add(host.state, rq, host.now_ns);
	CHECK(host.scheduler->next(host.state, host.now_ns, &wake_ns) == rq);
	host.scheduler->completed(host.state, rq, host.now_ns);
}

/* Forgetting an owner loses nothing once virtual time has reached its tags. */
static void only_who_is_ahead_is_missed(void)
{
	struct io_request rq = { .sectors = 8, .weight = 1, .cost_ns = MS };
	u64 before;
	u32 i;

	begin(1);
	for (i = 0; i < 4000; i++)
		serve_one(&rq, i);
	/* Virtual time advances to where all their tags end. */
	serve_one(&rq, 5000);
	serve_one(&rq, 5000);
	before = host_counter(&host, "forgotten");
	CHECK(before > 1000);
	for (i = 0; i < 500; i++)
		serve_one(&rq, 6000 + i);
	CHECK_EQ(host_counter(&host, "forgotten"), before);
	host_exit(&host);
}

/* Two owners with requests always pending share by weight at every moment. */
static void check_shares(u64 cost_ns, u64 weight0, u64 weight1)
{
	struct io_request rq[8];
	u64 given[2] = { 0 };
	u64 wake_ns;
	u32 i;

	for (i = 0; i < 40000 + ARRAY_SIZE(rq); i++) {
		struct io_request *next = &rq[i % ARRAY_SIZE(rq)];

		if (i < ARRAY_SIZE(rq)) {
			*next = (struct io_request){ .owner = i % 2, .sectors = 8 };
			next->weight = i % 2 ? weight1 : weight0;
			next->cost_ns = cost_ns;
		} else {
			next = host.scheduler->next(host.state, 0, &wake_ns);
			host.scheduler->completed(host.state, next, 0);
			given[next->owner]++;
		}
		next->id = i;
		host.scheduler->add(host.state, next, 0);
		CHECK(given[0] * weight1 <= (given[1] + 1) * weight0 + weight1);
		CHECK(given[1] * weight0 <= (given[0] + 1) * weight1 + weight0);
	}
}

/* After weeks of service, tags do not overflow. */
static void tags_go_on_for_ever(void)
{
	begin(1);
	check_shares(1ull << 35, 1, 3);
	CHECK_EQ(host_counter(&host, "rebased"), 3);
	host_exit(&host);
}

int main(void)
{
	who_returns_begins_at_virtual_time();
	no_more_than_depth_in_service();
	unknown_cost_is_estimated_by_size();
	estimates_are_settled();
	no_service_is_free();
	costs_have_a_limit();
	together_they_are_charged_the_time_of_the_device();
	several_may_go_as_one();
	an_idle_device_costs_nothing();
	merges();
	a_merge_may_change_who_is_first_of_a_flow();
	virtual_time_does_not_go_back();
	only_who_is_ahead_is_missed();
	tags_go_on_for_ever();
	return 0;
}
