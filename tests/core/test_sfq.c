// SPDX-License-Identifier: MIT
/* SFQ(D): its rules by hand. */
#include "sfq_host.h"

/* Of unknown cost, 8 sectors. */
static struct io_request *read_of(u32 owner)
{
	return host_add(&host, IO_READ, 1000, 8, owner);
}

/* The owners of the next requests, one letter each. */
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

/* It has saved nothing while it was away: b does not get three in a row. */
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
	/* 4 ms for the first of a, 2 for each of the others. */
	expect_owners("abbab", MS);
	host_exit(&host);
}

/* a's first took 12 ms instead of 5: b's next two come first. */
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
 * Even what took no time moves a flow on, by the smallest part of a tag: a's first took
 * nothing, and b, whose request came last, is before his second.  Six such parts are
 * what a cost of 1 ns has at the largest weight, and after five a is still before it.
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

/* Half a minute (2^35 ns) is the most that a request is charged. */
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
 * Two in service: one is done after 4 ms, the other 5 ms later, on a disk that the
 * first one had to itself.  Each is charged its own time, not that of the other.
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
	/* a goes on at 4 and then at 6, b at 5. */
	expect_owners("a", 2 * MS);
	expect_owners("ba", 2 * MS);
	host_exit(&host);
}

/* In the order of tags, while they are one owner's; together they take one place. */
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
	CHECK(!host_ask_more(&host, rq)); /* b begins at 0, a goes on at 1 ms */
	host_finish(&host, a[0], MS);
	CHECK(host_ask(&host) == b[0]);
	CHECK(!host_ask_more(&host, b[0]));
	host_finish(&host, b[0], MS);
	CHECK(host_ask(&host) == a[1]);
	CHECK(host_ask_more(&host, a[1]) == a[2]);
	CHECK(!host_ask_more(&host, a[1])); /* 5 ms is b's */
	CHECK(!host_ask(
		&host)); /* the one place is taken until the first one is done */
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

/* Time without requests is not charged to the one that ends it. */
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

/* What went into another request is not charged for; an older one goes first. */
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

/* The same if it makes the younger of a flow's two the older. */
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
 * a's first two took nothing, so a's third begins before virtual time, which is 5 ms.
 * It goes on from there: who comes now is not as far back as that.
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

/* Past the host, which has not so many requests: one at a time, served at once. */
static void serve_one(struct io_request *rq, u32 owner)
{
	u64 wake_ns;

	rq->owner = owner;
	host.scheduler->add(host.state, rq, host.now_ns);
	CHECK(host.scheduler->next(host.state, host.now_ns, &wake_ns) == rq);
	host.scheduler->completed(host.state, rq, host.now_ns);
}

/* Who had nothing left to wait for loses nothing when he is forgotten. */
static void only_who_is_ahead_is_missed(void)
{
	struct io_request rq = { .sectors = 8, .weight = 1, .cost_ns = MS };
	u64 before;
	u32 i;

	begin(1);
	for (i = 0; i < 4000; i++)
		serve_one(&rq, i);
	/* Virtual time comes to where they all ended. */
	serve_one(&rq, 5000);
	serve_one(&rq, 5000);
	before = host_counter(&host, "forgotten");
	CHECK(before > 1000);
	for (i = 0; i < 500; i++)
		serve_one(&rq, 6000 + i);
	CHECK_EQ(host_counter(&host, "forgotten"), before);
	host_exit(&host);
}

/* Two owners who always have requests pending: shares by weight at every moment. */
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

/* Weeks of service: tags never overflow. */
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
