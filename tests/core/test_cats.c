// SPDX-License-Identifier: MIT
/*
 * CATS: its rules in the order of their precedence, each alone and against the rules of
 * lower precedence.  Then random loads, for the invariants and for counters that must
 * all be above 0.  Tunables are the defaults unless a case sets them.
 */
#include "by_hand.h"

#define BUSDRIVER (7 * MS)
#define READ_DELAY (100 * MS)
#define MIN_WRITE_DELAY (10 * MS)
#define MAX_WRITE_DELAY (500 * MS)

static void begin_without_waits(void)
{
	host_init(&host, "cats");
	host_set(&host, "busdriver_ns", 0);
}

/* Rule 1 precedes all others, also during a sweep and a burst. */

static void a_hit_goes_first(void)
{
	struct io_request *far, *near, *hit;

	begin_without_waits();
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	far = read_of(2, 500000);
	near = read_of(3, 900);
	hit = read_of(4, 1064);
	host_expect(&host, hit, PICK_HIT, MS);
	CHECK_EQ(counter("hits"), 1);
	host_expect(&host, near, PICK_TABLE, MS);
	host_expect(&host, far, PICK_TABLE, MS);
	host_exit(&host);
}

static void a_hit_goes_before_a_burst_and_a_sweep(void)
{
	struct io_request *write[2], *read, *hit;

	begin_without_waits();
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	write[0] = write_at(5000);
	write[1] = write_at(6000);
	read = read_of(2, 400000);
	host.now_ns += MAX_WRITE_DELAY;
	host_expect(&host, write[0], PICK_BURST, MS);
	hit = read_of(3, 1010);
	host_expect(&host, hit, PICK_HIT, MS);
	host_expect(&host, write[1], PICK_BURST, MS);
	hit = read_of(3, 1020);
	host_expect(&host, hit, PICK_HIT, MS);
	host_expect(&host, read, PICK_EXPIRED, MS);
	host_exit(&host);
}

/* Rule 2. */

/* A burst is served in C-SCAN order from the head, without writes that arrived later. */
static void a_burst_is_what_was_pending_when_it_began(void)
{
	struct io_request *write[4], *late, *read;

	begin_without_waits();
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	write[2] = write_at(10);
	write[1] = write_at(3000);
	write[3] = write_at(500);
	write[0] = write_at(2000);
	host.now_ns += MAX_WRITE_DELAY - 1;
	read = read_of(1, 400000);
	host_expect(&host, read, PICK_TABLE, 1);
	read = read_of(1, 300);
	host_expect(&host, write[2], PICK_BURST, MS);
	late = write_at(50);
	host_expect(&host, write[3], PICK_BURST, MS);
	host_expect(&host, write[0], PICK_BURST, MS);
	host_expect(&host, write[1], PICK_BURST, MS);
	CHECK_EQ(counter("write_bursts"), 1);
	host_expect(&host, read, PICK_TABLE, MS);
	expect_wait(MIN_WRITE_DELAY - 4 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, late, PICK_BURST, MS);
	host_exit(&host);
}

/*
 * Writes are overdue again at the end of a burst.  The reads pending then are served
 * first, and no wait begins meanwhile.
 */
static void bursts_and_reads_take_turns(void)
{
	struct io_request *write[2], *read[3];

	host_init(&host, "cats");
	write[0] = write_at(1000);
	host.now_ns += MAX_WRITE_DELAY;
	read[0] = read_of(1, 2000);
	read[1] = read_of(2, 3000);
	host_expect(&host, write[0], PICK_BURST, 0);
	write[1] = write_at(100);
	host_take_back(&host, write[1]);
	write[1]->arrival_ns -= MAX_WRITE_DELAY;
	host_put_back(&host, write[1]);
	host_expect(&host, read[0], PICK_TABLE, MS);
	read[2] = read_of(3, 3100);
	host_expect(&host, read[1], PICK_TABLE, MS);
	host_expect(&host, write[1], PICK_BURST, MS);
	host_expect(&host, read[2], PICK_TABLE, MS);
	host_exit(&host);
}

/* A write that arrives right after the newest of the burst does not belong to it. */
static void a_burst_ends_with_its_newest_write(void)
{
	struct io_request *first, *last, *next;

	begin_without_waits();
	first = write_at(1000);
	last = write_at(9000);
	host.now_ns += MAX_WRITE_DELAY;
	host_expect(&host, first, PICK_BURST, MS);
	next = write_at(5000);
	host_expect(&host, last, PICK_BURST, MS);
	expect_wait(MIN_WRITE_DELAY - MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, next, PICK_BURST, MS);
	CHECK_EQ(counter("write_bursts"), 2);
	host_exit(&host);
}

/* Rule 3. */

static void overdue_reads_are_swept(void)
{
	struct io_request *oldest, *ahead, *next, *young;

	begin_without_waits();
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	oldest = read_of(2, 900);
	host.now_ns += READ_DELAY;
	ahead = read_of(3, 400000);
	next = read_of(4, 910);
	young = read_of(5, 600000);
	/* 400000 and 600000 are ahead of the head; 900 and 910 are behind it. */
	host_expect(&host, ahead, PICK_EXPIRED, MS);
	host_expect(&host, young, PICK_EXPIRED, MS);
	host_expect(&host, oldest, PICK_EXPIRED, MS);
	/* The oldest request is not overdue now, so a hit goes first again. */
	host_expect(&host, next, PICK_HIT, MS);
	CHECK_EQ(counter("sweeps"), 3);
	host_exit(&host);
}

/* Rule 4. */

static void a_wait_is_won(void)
{
	struct io_request *far, *near;

	host_init(&host, "cats");
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	far = read_of(2, 500000);
	expect_wait(BUSDRIVER);
	host.now_ns += 3 * MS;
	expect_wait(BUSDRIVER - 3 * MS);
	near = read_of(1, 2000);
	host_expect(&host, near, PICK_WAITED, MS);
	CHECK_EQ(counter("waits_won"), 1);
	expect_wait(BUSDRIVER);
	host.now_ns += BUSDRIVER;
	host_expect(&host, far, PICK_TABLE, MS);
	CHECK_EQ(counter("waits_lost"), 1);
	CHECK_EQ(counter("waits_cut"), 0);
	host_exit(&host);
}

/* The owner's read arrives exactly when the wait has expired. */
static void too_late_is_lost(void)
{
	struct io_request *far, *near;

	host_init(&host, "cats");
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	far = read_of(2, 500000);
	expect_wait(BUSDRIVER);
	host.now_ns += BUSDRIVER;
	near = read_of(1, 2000);
	host_expect(&host, near, PICK_TABLE, MS);
	CHECK_EQ(counter("waits_lost"), 1);
	CHECK_EQ(counter("waits_won"), 0);
	CHECK(far);
	host_exit(&host);
}

/* A wait ends at the first instant at which another rule applies. */
static void overdue_requests_end_a_wait(void)
{
	struct io_request *last, *read, *write;

	host_init(&host, "cats");
	last = read_of(1, 1000);
	read = read_of(2, 500000);
	host.now_ns += READ_DELAY - 4 * MS;
	host_expect(&host, last, PICK_TABLE, MS);
	expect_wait(3 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, read, PICK_EXPIRED, MS);
	CHECK_EQ(counter("waits_cut"), 1);

	write = write_at(100);
	host.now_ns += MAX_WRITE_DELAY - 4 * MS;
	host_expect(&host, read_of(1, 90000), PICK_TABLE, MS);
	read_of(2, 700000);
	expect_wait(3 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, write, PICK_BURST, MS);
	CHECK_EQ(counter("waits_cut"), 2);
	host_exit(&host);
}

/* Rule 5. */

/* PERFORM 2010 Table 1; all four requests are planned in one table. */
static void the_papers_example(void)
{
	struct io_request *r20, *r82, *r120, *r200;

	begin_without_waits();
	host_set(&host, "shadow_segments", 0);
	host_expect(&host, host_add(&host, IO_READ, 99, 1, 1), PICK_TABLE, MS);
	r20 = host_add(&host, IO_READ, 20, 1, 1);
	r82 = host_add(&host, IO_READ, 82, 1, 1);
	r120 = host_add(&host, IO_READ, 120, 1, 1);
	r200 = host_add(&host, IO_READ, 200, 1, 1);
	host_expect(&host, r120, PICK_TABLE, MS);
	host_expect(&host, r82, PICK_TABLE, MS);
	host_expect(&host, r20, PICK_TABLE, MS);
	host_expect(&host, r200, PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 2);
	CHECK_EQ(counter("table_picks"), 5);
	host_exit(&host);
}

static void an_arrival_and_a_merge_make_a_plan_void(void)
{
	struct io_request *grown, *last;

	begin_without_waits();
	host_set(&host, "shadow_segments", 0);
	host_expect(&host, read_of(1, 1000), PICK_TABLE, MS);
	last = read_of(1, 9000);
	grown = read_of(1, 7000);
	host_expect(&host, read_of(1, 3000), PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 2);
	host_expect(&host, read_of(1, 5000), PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 3);
	host_grow(&host, grown, 8);
	CHECK_EQ(counter("coalesced"), 1);
	host_expect(&host, grown, PICK_TABLE, MS);
	host_expect(&host, last, PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 4);
	host_exit(&host);
}

/* The write moves the head, and from there the remaining reads are better served downwards. */
static void a_burst_makes_a_plan_void(void)
{
	struct io_request *write, *read[3];

	begin_without_waits();
	host_set(&host, "shadow_segments", 0);
	host_set(&host, "read_delay_ns", 60000 * MS);
	write = write_at(300000);
	read[0] = read_of(1, 3000);
	read[1] = read_of(1, 7000);
	read[2] = read_of(1, 9000);
	host_expect(&host, read[0], PICK_TABLE, MAX_WRITE_DELAY);
	host_expect(&host, write, PICK_BURST, MS);
	host_expect(&host, read[2], PICK_TABLE, MS);
	host_expect(&host, read[1], PICK_TABLE, MS);
	CHECK_EQ(counter("tables_built"), 2);
	host_exit(&host);
}

/* Rule 6. */

static void writes_go_when_no_read_is_pending(void)
{
	struct io_request *write[3], *read;

	begin_without_waits();
	write[2] = write_at(100);
	expect_wait(MIN_WRITE_DELAY);
	host.now_ns += MIN_WRITE_DELAY / 2;
	write[0] = write_at(50);
	expect_wait(MIN_WRITE_DELAY / 2);
	host.now_ns = host.wake_ns;
	host_expect(&host, write[0], PICK_BURST, MS);
	/*
	 * The burst ends when a read arrives, although the remaining writes are old
	 * enough for another burst.
	 */
	read = read_of(1, 700);
	host_expect(&host, read, PICK_TABLE, MS);
	host_expect(&host, write[2], PICK_BURST, MS);
	CHECK_EQ(counter("write_bursts"), 2);
	write[1] = write_at(60);
	host_set(&host, "max_write_delay_ns", 4 * MS);
	expect_wait(4 * MS);
	CHECK(write[1]);
	host_exit(&host);
}

/* Random loads. */

static const char *const counters[] = { "hits",	     "table_picks",  "tables_built",
					"sweeps",    "waits_won",    "waits_lost",
					"waits_cut", "write_bursts", "coalesced" };
static u64 total[ARRAY_SIZE(counters)];
static u64 picked[PICK_REASONS];

/*
 * A write waits at most for max_write_delay, one burst, the reads owed after it, and
 * its own burst.
 */
static void see_pick(struct host *h, const struct io_request *rq)
{
	u64 longest_service = 5 * MS + MS / 2;

	if (!rq)
		return;
	picked[rq->reason]++;
	CHECK((rq->op == IO_WRITE) == (rq->reason == PICK_BURST));
	if (rq->op == IO_WRITE)
		CHECK(h->now_ns - rq->arrival_ns <=
		      MAX_WRITE_DELAY + 3 * HOST_PENDING * longest_service);
}

static void run_random(struct draw *draw, bool shadow)
{
	struct host_load load = {
		.requests = 400,
		.owners = 1 + draw_below(draw, 5),
		.writes_percent = draw_below(draw, 100),
		.merges_percent = draw_below(draw, 20),
		.gap_ns = MS + draw_below(draw, 8 * MS),
		.sectors = shadow ? 2000 : HOST_CAPACITY,
		.picked = see_pick,
	};
	u32 i;

	memset(picked, 0, sizeof(picked));
	host_init(&host, "cats");
	if (!shadow)
		host_set(&host, "shadow_segments", 0);
	host_run(&host, draw, &load);
	CHECK_EQ(picked[PICK_HIT], counter("hits"));
	CHECK_EQ(picked[PICK_EXPIRED], counter("sweeps"));
	CHECK_EQ(picked[PICK_TABLE] + picked[PICK_WAITED], counter("table_picks"));
	CHECK(picked[PICK_WAITED] <= counter("waits_won"));
	CHECK(counter("tables_built") <= counter("table_picks"));
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		total[i] += counter(counters[i]);
	host_exit(&host);
}

static void random_case(struct draw *draw)
{
	run_random(draw, true);
	run_random(draw, false);
}

int main(void)
{
	u32 i;

	a_hit_goes_first();
	a_hit_goes_before_a_burst_and_a_sweep();
	a_burst_is_what_was_pending_when_it_began();
	bursts_and_reads_take_turns();
	a_burst_ends_with_its_newest_write();
	overdue_reads_are_swept();
	a_wait_is_won();
	too_late_is_lost();
	overdue_requests_end_a_wait();
	the_papers_example();
	an_arrival_and_a_merge_make_a_plan_void();
	a_burst_makes_a_plan_void();
	writes_go_when_no_read_is_pending();
	check_seeds(300, random_case);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		CHECK(getenv("CHECK_SEED") || total[i]);
	return 0;
}
