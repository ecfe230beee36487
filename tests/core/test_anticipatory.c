// SPDX-License-Identifier: MIT
/*
 * Anticipation: waits, order and batches by hand; then random loads.  In these no
 * request waits longer than a bound derived from the rules, and the disk is idle only
 * while the scheduler anticipates a read.
 */
#include "by_hand.h"

#define ANTIC (6 * MS)
#define READ_EXPIRE (125 * MS)
#define WRITE_EXPIRE (250 * MS)
#define READ_BATCH (500 * MS)
#define WRITE_BATCH (125 * MS)

static void begin(void)
{
	host_init(&host, "anticipatory");
}

static void begin_without_waits(void)
{
	begin();
	host_set(&host, "antic_expire_ns", 0);
}

/* Serve one read of the owner, thought_ns after the previous completion. */
static void live(u32 owner, u64 sector, u64 thought_ns)
{
	host.now_ns += thought_ns;
	host_expect(&host, read_of(owner, sector), PICK_ORDER, MS);
}

/* Waits. */

static void a_wait_is_won(void)
{
	struct io_request *far, *near;

	begin();
	live(1, 1000, 0);
	far = read_of(2, 500000);
	expect_wait(ANTIC);
	host.now_ns += 2 * MS;
	near = read_of(1, 1200);
	host_expect(&host, near, PICK_WAITED, MS);
	CHECK_EQ(counter("waits_won"), 1);
	/* The next wait begins. */
	expect_wait(ANTIC);
	host.now_ns += ANTIC;
	host_expect(&host, far, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_lost"), 1);
	CHECK_EQ(counter("waits_cut"), 0);
	host_exit(&host);
}

/* The wait had expired before the scheduler was asked again. */
static void who_comes_too_late_has_lost(void)
{
	struct io_request *near;

	begin();
	live(1, 1000, 0);
	read_of(2, 500000);
	expect_wait(ANTIC);
	host.now_ns += ANTIC;
	near = read_of(1, 1200);
	host_expect(&host, near, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_won"), 0);
	CHECK_EQ(counter("waits_lost"), 1);
	host_exit(&host);
}

/*
 * Its think time was twice the longest wait; six reads later the scheduler waits for
 * the owner again.
 */
static void nobody_waits_for_a_thinker(void)
{
	struct io_request *far;
	u32 i;

	begin();
	live(1, 1000, 0);
	live(1, 1008, 20 * MS);
	far = read_of(2, 500000);
	host_expect(&host, far, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_spared"), 1);
	host.now_ns += ANTIC;
	for (i = 0; i < 6; i++)
		live(1, 1016 + 8 * i, 0);
	read_of(3, 500000);
	expect_wait(ANTIC);
	host_exit(&host);
}

/* A think time equal to the longest wait is not too long. */
static void who_comes_just_in_time_is_waited_for(void)
{
	begin();
	live(1, 1000, 0);
	live(1, 1008, ANTIC);
	read_of(2, 500000);
	expect_wait(ANTIC);
	CHECK_EQ(counter("waits_spared"), 0);
	host_exit(&host);
}

static void who_reads_far_away_is_not_waited_for(void)
{
	struct io_request *other;

	begin();
	live(1, 1000, 0);
	live(1, 1508, MS);
	live(1, 2016, MS);
	read_of(2, 2024 + 501);
	expect_wait(ANTIC);
	other = read_of(3, 2024 + 500);
	host_expect(&host, other, PICK_ORDER, MS);
	CHECK_EQ(counter("close_reads"), 1);
	host_exit(&host);
}

/* A wait ends with the batch, which began with the first read. */
static void the_end_of_the_batch_cuts_a_wait_short(void)
{
	struct io_request *write, *near;

	begin();
	host_set(&host, "read_batch_ns", 4 * MS);
	live(1, 1000, 0);
	write = write_at(500000);
	expect_wait(3 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, write, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_cut"), 1);
	near = read_of(1, 1100);
	host_expect(&host, near, PICK_ORDER, MS);
	host_exit(&host);
}

static void begin_with_two_at_once(void)
{
	host_init_deep(&host, "anticipatory", 2);
}

/* A wait that began during a batch of writes ends when the batch of reads begins. */
static void the_end_of_a_batch_of_writes_ends_a_wait(void)
{
	struct io_request *first, *far;

	begin_with_two_at_once();
	host_set(&host, "read_batch_ns", MS);
	host_set(&host, "write_batch_ns", 2 * MS);
	first = expect_next(read_of(1, 1000));
	host.now_ns += MS;
	expect_next(write_at(500000));
	far = read_of(2, 900000);
	host_finish(&host, first, MS);
	host.now_ns += MS;
	expect_next(far);
	host_exit(&host);
}

/* An owner that will be waited for keeps the disk from the start of its service. */
static void a_read_in_service_is_waited_for(void)
{
	struct io_request *first;

	begin_with_two_at_once();
	first = expect_next(read_of(1, 1000));
	read_of(2, 500000);
	expect_wait(READ_EXPIRE);
	host_finish(&host, first, MS);
	expect_wait(ANTIC);
	CHECK_EQ(expect_next(read_of(1, 1200))->reason, PICK_WAITED);
	CHECK_EQ(counter("waits_won"), 1);
	expect_wait(READ_EXPIRE - MS);
	host.now_ns = host.wake_ns;
	CHECK_EQ(host_ask(&host)->reason, PICK_EXPIRED);
	host_exit(&host);
}

static void a_close_read_goes_beside_it(void)
{
	begin_with_two_at_once();
	expect_next(read_of(1, 1000));
	CHECK(!host_ask(&host));
	read_of(2, 1008 + 129);
	expect_wait(READ_EXPIRE);
	expect_next(read_of(3, 1008 + 128));
	CHECK_EQ(counter("close_reads"), 1);
	host_exit(&host);
}

static void an_expired_read_cuts_a_wait_short(void)
{
	struct io_request *far;

	begin();
	far = read_of(2, 500000);
	host.now_ns += READ_EXPIRE - 3 * MS;
	live(1, 100, 0);
	expect_wait(2 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, far, PICK_EXPIRED, MS);
	CHECK_EQ(counter("waits_cut"), 1);
	CHECK_EQ(counter("expired"), 1);
	host_exit(&host);
}

/* Let 3000 owners send one request each, so that earlier owners lose their slots. */
static void crowd_passes(struct io_request *rq)
{
	u32 i;

	for (i = 0; i < 3000; i++) {
		rq->owner = 1000 + i;
		host_put_back(&host, rq);
		host_take_back(&host, rq);
	}
}

static void who_is_waited_for_is_not_forgotten(void)
{
	struct io_request *passing, *near;

	begin();
	live(1, 1000, 0);
	read_of(2, 500000);
	passing = read_of(3, 600000);
	expect_wait(ANTIC);
	host_take_back(&host, passing);
	crowd_passes(passing);
	expect_wait(ANTIC);
	near = read_of(1, 1008);
	host_expect(&host, near, PICK_WAITED, MS);
	host_exit(&host);
}

/* A new owner does not inherit the think time of the slot's previous owner. */
static void strangers_are_trusted(void)
{
	struct io_request *rq;
	u32 i;

	begin();
	rq = host_new(&host, IO_READ, 1000, 8, 0);
	for (i = 0; i < 6000; i++) {
		rq->owner = i < 3000 ? i / 2 : i;
		host.now_ns += 2 * ANTIC;
		host_put_back(&host, rq);
		host_finish(&host, host_ask(&host), MS);
	}
	/* Each of the first 1500 came twice, with too long a think time. */
	CHECK_EQ(counter("waits_spared"), 1500);
	host_exit(&host);
}

/* Order. */

static void steps_back_are_short(void)
{
	struct io_request *ahead, *back, *far_back, *lowest;

	begin_without_waits();
	host_set(&host, "back_max_sectors", 1000);
	live(1, 100000, 0);
	far_back = read_of(2, 100008 - 1001);
	lowest = read_of(2, 10);
	ahead = read_of(2, 100008 + 801);
	back = read_of(2, 100008 - 400);
	host_expect(&host, back, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 1);
	/* From 99616 the sweep serves the request ahead, then starts again at the lowest sector. */
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_expect(&host, lowest, PICK_ORDER, MS);
	host_expect(&host, far_back, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 1);
	host_exit(&host);
}

/* A request at the head, or in the next sweep, does not count as a step back. */
static void other_ways_are_no_steps_back(void)
{
	struct io_request *at_the_head, *lowest;

	begin_without_waits();
	host_set(&host, "back_max_sectors", 1000);
	live(1, 100000, 0);
	lowest = read_of(2, 0);
	at_the_head = read_of(2, 100008);
	host_expect(&host, at_the_head, PICK_ORDER, MS);
	host_expect(&host, lowest, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 0);
	host_exit(&host);
}

/* The step back, counted double, equals the distance ahead: the sweep goes ahead. */
static void of_equal_ways_the_one_ahead(void)
{
	struct io_request *ahead, *back;

	begin_without_waits();
	live(1, 100000, 0);
	back = read_of(2, 100008 - 400);
	ahead = read_of(2, 100008 + 800);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_expect(&host, back, PICK_ORDER, MS);
	host_exit(&host);
}

/* The oldest request is served first; the sweep then continues from there for read_expire. */
static void the_expired_go_first_one_at_a_time(void)
{
	struct io_request *old[2], *ahead[3];

	begin_without_waits();
	live(1, 400000, 0);
	old[0] = read_of(2, 1000);
	old[1] = read_of(3, 500);
	ahead[0] = read_of(2, 500000);
	ahead[1] = read_of(2, 3000);
	ahead[2] = read_of(2, 4000);
	host_expect(&host, ahead[0], PICK_ORDER, READ_EXPIRE);
	host_expect(&host, old[0], PICK_EXPIRED, MS);
	host_set(&host, "back_max_sectors", 100);
	host_expect(&host, ahead[1], PICK_ORDER, READ_EXPIRE - MS);
	host_expect(&host, old[1], PICK_EXPIRED, MS);
	host_expect(&host, ahead[2], PICK_ORDER, MS);
	CHECK_EQ(counter("expired"), 2);
	host_exit(&host);
}

/* A merged request takes the arrival time of the older of the two. */
static void age_is_inherited(void)
{
	struct io_request *old, *heir, *ahead;

	begin_without_waits();
	live(1, 400000, 0);
	old = read_of(2, 992);
	host.now_ns += READ_EXPIRE;
	ahead = read_of(2, 500000);
	heir = read_of(2, 1000);
	host_unite(&host, heir, old);
	host_expect(&host, heir, PICK_EXPIRED, MS);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_exit(&host);
}

/* Batches. */

static void reads_and_writes_take_turns(void)
{
	struct io_request *read[4], *write[4];
	u32 i;

	begin_without_waits();
	for (i = 0; i < 4; i++) {
		write[i] = write_at(1000 + 100 * i);
		read[i] = read_of(i, 2000 + 100 * i);
	}
	host_set(&host, "back_max_sectors", 0);
	host_set(&host, "read_expire_ns", 10000 * MS);
	host_set(&host, "write_expire_ns", 10000 * MS);
	host_expect(&host, read[0], PICK_ORDER, READ_BATCH - 1);
	host_expect(&host, read[1], PICK_ORDER, 1);
	host_expect(&host, write[0], PICK_ORDER, WRITE_BATCH - 1);
	host_expect(&host, write[1], PICK_ORDER, MS);
	host_expect(&host, read[2], PICK_ORDER, READ_BATCH - 1);
	host_expect(&host, read[3], PICK_ORDER, 0);
	/* No read is pending, so the batch of reads ends early. */
	host_expect(&host, write[2], PICK_ORDER, MS);
	CHECK_EQ(counter("read_batches"), 2);
	CHECK_EQ(counter("write_batches"), 2);
	host_expect(&host, write[3], PICK_ORDER, MS);
	host_exit(&host);
}

static void batches_are_counted_apart(void)
{
	begin_without_waits();
	live(1, 1000, 0);
	host.now_ns += READ_BATCH;
	live(1, 2000, 0);
	host_expect(&host, write_at(3000), PICK_ORDER, MS);
	CHECK_EQ(counter("read_batches"), 2);
	CHECK_EQ(counter("write_batches"), 1);
	host_exit(&host);
}

/* A write whose age equals the expiry time has expired. */
static void a_write_is_old_in_time(void)
{
	struct io_request *old, *ahead;

	begin_without_waits();
	host_set(&host, "write_batch_ns", 2 * WRITE_EXPIRE);
	host_expect(&host, write_at(400000), PICK_ORDER, MS);
	old = write_at(1000);
	ahead = write_at(500000);
	host.now_ns += WRITE_EXPIRE;
	host_expect(&host, old, PICK_EXPIRED, MS);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_exit(&host);
}

/*
 * Nobody starves.  While a direction has anything pending, its oldest request is served
 * within a limit.  The limit is its expiry time, one batch of the other direction, and
 * the services under way when each of these ends.  Every request becomes the oldest
 * once all older requests are served.
 */

#define LONGEST_SERVICE (6 * MS)
#define SHORT (15 * MS)

/* By request: how many requests of its direction were pending on its arrival, itself included. */
static u64 rank[HOST_REQUESTS];
static u64 antic_ns;
static u64 counted[4];

static void see_arrival(struct host *h, const struct io_request *rq)
{
	u32 i;

	if (rank[rq->id]) /* the request it merged with */
		return;
	for (i = 0; i <= rq->id; i++)
		rank[rq->id] += h->pending[i] && h->request[i].op == rq->op;
}

static u64 bound_ns(const struct io_request *rq)
{
	u64 expire_ns = SHORT * (rq->op == IO_READ ? 1 : 2);
	u64 others_ns = SHORT * (rq->op == IO_READ ? 2 : 4);
	u64 turn_ns = expire_ns + others_ns + 3 * LONGEST_SERVICE;

	return rank[rq->id] * turn_ns;
}

static void see_pick(struct host *h, const struct io_request *rq)
{
	if (!rq) {
		CHECK(!h->nr_pending || h->in_service ||
		      h->wake_ns <= h->now_ns + antic_ns);
		return;
	}
	CHECK(h->now_ns - rq->arrival_ns <= bound_ns(rq));
}

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 450,
		.owners = 1 + draw_below(draw, 8),
		.writes_percent = draw_below(draw, 101),
		.merges_percent = 10,
		.gap_ns = draw_below(draw, MS),
		.sectors = HOST_CAPACITY,
		.arriving = set_place,
		.added = see_arrival,
		.picked = see_pick,
	};

	memset(rank, 0, sizeof(rank));
	host_init_deep(&host, "anticipatory", 1 + draw_below(draw, 3));
	antic_ns = draw_below(draw, 2) ? ANTIC : 0;
	host_set(&host, "antic_expire_ns", antic_ns);
	host_set(&host, "read_expire_ns", SHORT);
	host_set(&host, "write_expire_ns", 2 * SHORT);
	host_set(&host, "read_batch_ns", 4 * SHORT);
	host_set(&host, "write_batch_ns", 2 * SHORT);
	host_run(&host, draw, &load);
	counted[0] += counter("waits_won");
	counted[1] += counter("waits_lost");
	counted[2] += counter("waits_cut");
	counted[3] += counter("expired");
	host_exit(&host);
}

int main(void)
{
	a_wait_is_won();
	who_comes_too_late_has_lost();
	nobody_waits_for_a_thinker();
	who_comes_just_in_time_is_waited_for();
	who_reads_far_away_is_not_waited_for();
	the_end_of_the_batch_cuts_a_wait_short();
	the_end_of_a_batch_of_writes_ends_a_wait();
	a_read_in_service_is_waited_for();
	a_close_read_goes_beside_it();
	an_expired_read_cuts_a_wait_short();
	who_is_waited_for_is_not_forgotten();
	strangers_are_trusted();
	steps_back_are_short();
	other_ways_are_no_steps_back();
	of_equal_ways_the_one_ahead();
	the_expired_go_first_one_at_a_time();
	age_is_inherited();
	reads_and_writes_take_turns();
	batches_are_counted_apart();
	a_write_is_old_in_time();
	check_seeds(500, random_case);
	CHECK(getenv("CHECK_SEED") ||
	      (counted[0] && counted[1] && counted[2] && counted[3]));
	return 0;
}
