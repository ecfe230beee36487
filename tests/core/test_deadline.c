// SPDX-License-Identifier: MIT
/*
 * Deadline against a naive implementation of mq-deadline's rules, which searches the
 * array of all requests.  Then cases that random loads rarely reach: expiry to the
 * nanosecond, and a follower that takes an older request's id.
 */
#include "host.h"

#define NOBODY U64_MAX

static struct host host;

/* The naive scheduler, with the ids of its next requests. */
static struct naive {
	u64 follower[IO_OPS];
	u64 lost_follower[IO_OPS];
	u64 read_expire_ns, write_expire_ns, fifo_batch, writes_starved;
	u64 batched, starved, expired;
	u8 op, reason;
} naive;

static bool is_before(const struct io_request *a, const struct io_request *b)
{
	return a->sector < b->sector || (a->sector == b->sector && a->id < b->id);
}

/* Return the id of the next pending request of the same direction in sector order. */
static u64 naive_after(const struct host *h, const struct io_request *rq)
{
	const struct io_request *best = NULL;
	u32 i;

	for (i = 0; i < h->count; i++) {
		const struct io_request *other = &h->request[i];

		if (h->pending[i] && other->op == rq->op && is_before(rq, other) &&
		    (!best || is_before(other, best)))
			best = other;
	}
	return best ? best->id : NOBODY;
}

static u64 naive_oldest(const struct host *h, u8 op, u64 picked)
{
	u64 i;

	for (i = 0; i < h->count; i++) {
		if ((h->pending[i] || i == picked) && h->request[i].op == op)
			return i;
	}
	return NOBODY;
}

/* Ignore the picked request, which the host has already removed from the pending ones. */
static u64 naive_choice(const struct host *h, u64 picked)
{
	u64 oldest[IO_OPS] = { naive_oldest(h, IO_READ, picked),
			       naive_oldest(h, IO_WRITE, picked) };
	u64 expire_ns;
	u64 choice;

	naive.reason = PICK_ORDER;
	if (naive.follower[naive.op] != NOBODY && naive.batched < naive.fifo_batch)
		return naive.follower[naive.op];
	if (oldest[IO_READ] == NOBODY && oldest[IO_WRITE] == NOBODY)
		return NOBODY;
	naive.op = IO_READ;
	if (oldest[IO_READ] == NOBODY) {
		naive.op = IO_WRITE;
	} else if (oldest[IO_WRITE] != NOBODY) {
		if (naive.starved >= naive.writes_starved)
			naive.op = IO_WRITE;
		naive.starved++;
	}
	if (naive.op == IO_WRITE)
		naive.starved = 0;
	naive.batched = 0;
	expire_ns = naive.op == IO_READ ? naive.read_expire_ns : naive.write_expire_ns;
	choice = oldest[naive.op];
	if (h->now_ns >= h->request[choice].arrival_ns + expire_ns)
		naive.reason = PICK_EXPIRED;
	else if (naive.follower[naive.op] != NOBODY)
		choice = naive.follower[naive.op];
	return choice;
}

static void see_pick(struct host *h, const struct io_request *rq)
{
	u64 choice = naive_choice(h, rq ? rq->id : NOBODY);

	CHECK_EQ(rq ? rq->id : NOBODY, choice);
	if (!rq)
		return;
	CHECK_EQ(rq->reason, naive.reason);
	naive.expired += rq->reason == PICK_EXPIRED;
	naive.batched++;
	naive.follower[rq->op] = naive_after(h, rq);
	naive.lost_follower[rq->op] = NOBODY;
}

static void see_removed(struct host *h, const struct io_request *rq)
{
	if (naive.follower[rq->op] != rq->id)
		return;
	naive.follower[rq->op] = naive_after(h, rq);
	naive.lost_follower[rq->op] = rq->id;
}

static void see_added(struct host *h, const struct io_request *rq)
{
	if (naive.lost_follower[rq->op] == rq->id)
		naive.follower[rq->op] = rq->id;
}

static void naive_init(struct draw *draw)
{
	naive = (struct naive){
		.follower = { NOBODY, NOBODY },
		.lost_follower = { NOBODY, NOBODY },
		.read_expire_ns = draw_below(draw, 200 * MS),
		.write_expire_ns = draw_below(draw, 400 * MS),
		.fifo_batch = draw_below(draw, 20),
		.writes_starved = draw_below(draw, 4),
	};
	host_set(&host, "read_expire_ns", naive.read_expire_ns);
	host_set(&host, "write_expire_ns", naive.write_expire_ns);
	host_set(&host, "fifo_batch", naive.fifo_batch);
	host_set(&host, "writes_starved", naive.writes_starved);
}

static u64 batches, expired;

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 300,
		.owners = 1,
		.writes_percent = draw_below(draw, 101),
		.merges_percent = 30,
		.gap_ns = MS / 2 + draw_below(draw, 4 * MS),
		.sectors = draw_below(draw, 2) ? 60 : HOST_CAPACITY,
		.added = see_added,
		.removed = see_removed,
		.picked = see_pick,
	};

	host_init(&host, "deadline");
	naive_init(draw);
	host_run(&host, draw, &load);
	batches += host_counter(&host, "batches");
	CHECK_EQ(host_counter(&host, "expired"), naive.expired);
	expired += naive.expired;
	host_exit(&host);
}

static struct io_request *read_at(u64 sector)
{
	return host_add(&host, IO_READ, sector, 1, 0);
}

/* A request expires to the nanosecond; before that, the batch continues with its follower. */
static void a_request_expires_at_its_age(void)
{
	struct io_request *first, *oldest, *second, *third;
	u64 early_ns;

	for (early_ns = 0; early_ns < 2; early_ns++) {
		host_init(&host, "deadline");
		host_set(&host, "fifo_batch", 2);
		first = read_at(60);
		oldest = read_at(5);
		second = read_at(70);
		third = read_at(80);
		host_expect(&host, first, PICK_ORDER, 0);
		host_expect(&host, second, PICK_ORDER, 500 * MS - early_ns);
		if (early_ns)
			host_expect(&host, third, PICK_ORDER, 0);
		else
			host_expect(&host, oldest, PICK_EXPIRED, 0);
		host_exit(&host);
	}
}

/* Ask without the host, whose ids are indices. */
static struct io_request *ask(struct host *h)
{
	return h->scheduler->next(h->state, h->now_ns, &h->wake_ns);
}

/* A follower that merges into an older request returns with the older id. */
static void a_follower_may_age(void)
{
	struct io_request *older, *oldest, *follower;

	host_init(&host, "deadline");
	host_add(&host, IO_READ, 50, 1, 0);
	older = read_at(61);
	oldest = read_at(90);
	follower = read_at(60);
	host_expect(&host, &host.request[0], PICK_ORDER, MS);
	host.scheduler->remove(host.state, older);
	host.scheduler->remove(host.state, follower);
	follower->id = older->id;
	host.scheduler->add(host.state, follower, host.now_ns);
	CHECK(ask(&host) == follower);
	CHECK(ask(&host) == oldest);
	host_exit(&host);
}

/* The batch went on while the follower was taken back, so the follower lost its place. */
static void a_follower_that_missed_its_turn_is_none(void)
{
	struct io_request *first, *oldest, *follower, *next;

	host_init(&host, "deadline");
	first = read_at(50);
	oldest = read_at(5);
	follower = read_at(60);
	next = read_at(70);
	host_expect(&host, first, PICK_ORDER, MS);
	host_take_back(&host, follower);
	host_expect(&host, next, PICK_ORDER, MS);
	host_put_back(&host, follower);
	host_expect(&host, oldest, PICK_ORDER, MS);
	host_expect(&host, follower, PICK_ORDER, MS);
	host_exit(&host);
}

int main(void)
{
	a_follower_that_missed_its_turn_is_none();
	a_request_expires_at_its_age();
	a_follower_may_age();
	check_seeds(600, random_case);
	CHECK(getenv("CHECK_SEED") || (batches && expired));
	return 0;
}
