// SPDX-License-Identifier: MIT
/*
 * The schedulers that think of an arm: the textbooks' queue, random loads against one
 * naive definition of all of them, and the trips of SCAN and C-SCAN to the edge, step
 * by step.  C-LOOK has a test of its own.
 */
#include <string.h>

#include "host.h"

#define CYLINDER 5000ull /* 200 of them are HOST_CAPACITY */
#define FAR (1ull << 40)

static struct host host;

/* Serve a request that ends where the head should be. */
static void head_to(u64 sector)
{
	const struct io_request *rq = host_add(&host, IO_READ, sector - 1, 1, 0);
	struct io_request *got = host_ask(&host);

	CHECK(got == rq);
	host_finish(&host, got, 0);
}

static void begin(const char *scheduler)
{
	host_init(&host, scheduler);
	if (!strcmp(scheduler, "scan") || !strcmp(scheduler, "cscan"))
		host_set(&host, "full_seek_ns", 0);
}

/* The cylinders of the requests that are pending, in the order of service. */
static void expect_order(const u64 *cylinder, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct io_request *rq = host_ask(&host);

		CHECK_EQ(rq->sector, cylinder[i] * CYLINDER);
		host_finish(&host, rq, MS);
	}
	CHECK_EQ(host.nr_pending, 0);
}

static void add_cylinders(const u64 *cylinder, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		host_add(&host, i % 2, cylinder[i] * CYLINDER, 1, 0);
}

static const u64 textbook[] = { 98, 183, 37, 122, 14, 124, 65, 67 };
static const u64 nearest_first[] = { 65, 67, 37, 14, 98, 122, 124, 183 };
static const u64 up_then_down[] = { 65, 67, 98, 122, 124, 183, 37, 14 };
static const u64 down_then_up[] = { 37, 14, 65, 67, 98, 122, 124, 183 };
static const u64 up_then_up[] = { 65, 67, 98, 122, 124, 183, 14, 37 };

/* The head is at 53 and has come from below or, after 100, from above. */
static void expect_textbook(const char *scheduler, bool down, const u64 *order)
{
	begin(scheduler);
	if (down)
		head_to(100 * CYLINDER);
	head_to(53 * CYLINDER);
	add_cylinders(textbook, ARRAY_SIZE(textbook));
	expect_order(order, ARRAY_SIZE(textbook));
	host_exit(&host);
}

static void textbooks(void)
{
	expect_textbook("sstf", false, nearest_first);
	expect_textbook("sstf", true, nearest_first);
	expect_textbook("look", false, up_then_down);
	expect_textbook("look", true, down_then_up);
	expect_textbook("scan", false, up_then_down);
	expect_textbook("scan", true, down_then_up);
	expect_textbook("cscan", false, up_then_up);
	expect_textbook("clook", false, up_then_up);
	expect_textbook("vr", false, up_then_down);
	expect_textbook("vr", true, down_then_up);
}

/* From 100 upwards, with turning worth R * 200 cylinders. */
static void expect_vr(u64 r_milli, const u64 *order)
{
	static const u64 cylinder[] = { 60, 130, 90 };

	host_init(&host, "vr");
	host_set(&host, "r_milli", r_milli);
	head_to(100 * CYLINDER);
	add_cylinders(cylinder, ARRAY_SIZE(cylinder));
	expect_order(order, ARRAY_SIZE(cylinder));
	host_exit(&host);
}

static void weighs_turns(void)
{
	expect_vr(0, (u64[]){ 90, 60, 130 });
	expect_vr(99, (u64[]){ 90, 60, 130 });
	/* 30 cylinders ahead, or 10 behind and 20 for the turn: upwards. */
	expect_vr(100, (u64[]){ 130, 90, 60 });
	expect_vr(200, (u64[]){ 130, 90, 60 });
	expect_vr(1000, (u64[]){ 130, 90, 60 });
}

/* A sector nearer, the turn and all, is nearer. */
static void weighs_turns_to_the_sector(void)
{
	struct io_request *ahead, *behind;

	host_init(&host, "vr");
	host_set(&host, "r_milli", 100);
	head_to(500000);
	ahead = host_add(&host, IO_READ, 500000 + HOST_CAPACITY / 10 + 50001, 1, 0);
	behind = host_add(&host, IO_READ, 500000 - 50000, 1, 0);
	host_expect(&host, behind, PICK_ORDER, MS);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_exit(&host);
}

/* The head is at 1000 and has come from above. */
static void begin_at_1000(const char *scheduler)
{
	begin(scheduler);
	head_to(5000);
	head_to(1000);
}

static void oldest_first(const char *scheduler)
{
	struct io_request *there[2], *below[2];
	u32 i;

	begin_at_1000(scheduler);
	for (i = 0; i < 2; i++) {
		there[i] = host_add(&host, IO_READ, 1000, 1, 0);
		below[i] = host_add(&host, IO_READ, 999, 1, 0);
	}
	host_expect(&host, there[0], PICK_ORDER, MS);
	host_expect(&host, there[1], PICK_ORDER, MS);
	host_expect(&host, below[0], PICK_ORDER, MS);
	host_expect(&host, below[1], PICK_ORDER, MS);
	CHECK_EQ(host_counter(&host, "turns"), 1);
	host_exit(&host);
}

static void equally_far(const char *scheduler, bool up)
{
	struct io_request *rq[2];

	begin_at_1000(scheduler);
	rq[0] = host_add(&host, IO_READ, 990, 1, 0);
	rq[1] = host_add(&host, IO_READ, 1010, 1, 0);
	host_expect(&host, rq[up], PICK_ORDER, MS);
	host_exit(&host);
}

static void ties(void)
{
	oldest_first("sstf");
	oldest_first("look");
	oldest_first("scan");
	oldest_first("vr");
	equally_far("sstf", true);
	equally_far("look", false);
	equally_far("scan", false);
	equally_far("vr", false);
}

/*
 * One definition of all: the request with the least rank.  The rank is the distance;
 * what lies behind counts as turn_sectors farther or, for circular ones, follows in
 * ascending order.
 */
static struct naive {
	u64 turn_sectors;
	bool circular;
	u64 head;
	bool down;
	u64 turns;
	u64 travel;
} naive;

static bool is_behind(const struct io_request *rq)
{
	return naive.down ? rq->sector > naive.head : rq->sector < naive.head;
}

static u64 distance(const struct io_request *rq)
{
	return rq->sector > naive.head ? rq->sector - naive.head
				       : naive.head - rq->sector;
}

static u64 rank(const struct io_request *rq)
{
	if (naive.circular)
		return is_behind(rq) ? FAR + rq->sector : rq->sector;
	return distance(rq) + (is_behind(rq) ? naive.turn_sectors : 0);
}

static bool is_before(const struct io_request *a, const struct io_request *b)
{
	if (rank(a) != rank(b))
		return rank(a) < rank(b);
	return a->sector > b->sector || (a->sector == b->sector && a->id < b->id);
}

static void check_pick(struct host *h, const struct io_request *rq)
{
	u32 i;

	if (!rq)
		return;
	CHECK_EQ(rq->reason, PICK_ORDER);
	for (i = 0; i < h->count; i++)
		CHECK(!h->pending[i] || is_before(rq, &h->request[i]));
	naive.travel += distance(rq);
	if (is_behind(rq)) {
		naive.turns++;
		naive.down = !naive.down && !naive.circular;
	}
	naive.head = request_end(rq);
}

static void run_against(const char *scheduler, struct naive definition,
			struct draw *draw, u64 r_milli)
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

	naive = definition;
	begin(scheduler);
	if (r_milli <= 1000)
		host_set(&host, "r_milli", r_milli);
	host_run(&host, draw, &load);
	CHECK_EQ(host_counter(&host, naive.circular ? "wraps" : "turns"), naive.turns);
	CHECK_EQ(host_counter(&host, "travel_sectors"), naive.travel);
	host_exit(&host);
}

#define NO_R U64_MAX

static void random_case(struct draw *draw)
{
	u64 r_milli = draw_below(draw, 1001);
	struct naive sstf = { .turn_sectors = 0 };
	struct naive look = { .turn_sectors = FAR };
	struct naive vr = { .turn_sectors = HOST_CAPACITY * r_milli / 1000 };
	struct naive clook = { .circular = true };

	run_against("sstf", sstf, draw, NO_R);
	run_against("look", look, draw, NO_R);
	run_against("vr", vr, draw, r_milli);
	run_against("vr", sstf, draw, 0);
	run_against("vr", look, draw, 1000);
	run_against("scan", look, draw, NO_R);
	run_against("cscan", clook, draw, NO_R);
}

/* Trips: a sector takes the arm a nanosecond. */

static void begin_trip(const char *scheduler, u64 head)
{
	host_init(&host, scheduler);
	host_set(&host, "full_seek_ns", HOST_CAPACITY);
	head_to(head);
}

/* Nothing is handed out now; then let it be the time to ask again. */
#define expect_wait(until_ns)                     \
	do {                                      \
		CHECK(!host_ask(&host));          \
		CHECK_EQ(host.wake_ns, until_ns); \
		host.now_ns = until_ns;           \
	} while (0)

static void expect_pick(const struct io_request *rq)
{
	host_expect(&host, rq, PICK_ORDER, 0);
}

static void scan_goes_to_the_edge_and_back(void)
{
	struct io_request *below, *lower;

	begin_trip("scan", 900000);
	below = host_add(&host, IO_READ, 500000, 1, 0);
	lower = host_add(&host, IO_READ, 400000, 1, 0);
	expect_wait(100000);
	CHECK_EQ(host_counter(&host, "turns"), 0);
	expect_wait(200000);
	CHECK_EQ(host_counter(&host, "turns"), 1);
	expect_pick(below);
	expect_pick(lower);
	CHECK_EQ(host_counter(&host, "edge_sectors"), 200000);
	CHECK_EQ(host_counter(&host, "travel_sectors"), 899999 + 400000 + 100001);
	/* Downwards there is an edge too; here it is asked late. */
	below = host_add(&host, IO_READ, 600000, 1, 0);
	expect_wait(200000 + 400001);
	host.now_ns += 999999;
	expect_pick(below);
	CHECK_EQ(host_counter(&host, "turns"), 2);
	host_exit(&host);
}

static void scan_meets_late_comers_on_the_way_out(void)
{
	struct io_request *below, *ahead, *passed;

	begin_trip("scan", 900000);
	below = host_add(&host, IO_READ, 500000, 1, 0);
	expect_wait(100000);
	host.now_ns = 50000; /* the arm is at 950000 */
	passed = host_add(&host, IO_READ, 949999, 1, 0);
	expect_wait(100000);
	host.now_ns = 50000;
	ahead = host_add(&host, IO_READ, 950000, 1, 0);
	expect_pick(ahead);
	CHECK_EQ(host_counter(&host, "edge_sectors"), 0);
	/* Another trip, from 950001. */
	expect_wait(50000 + 49999);
	expect_wait(50000 + 2 * 49999);
	expect_pick(passed);
	expect_pick(below);
	CHECK_EQ(host_counter(&host, "turns"), 1);
	host_exit(&host);
}

static void scan_meets_late_comers_on_the_way_back(void)
{
	struct io_request *below, *far, *near, *passed;

	begin_trip("scan", 900000);
	below = host_add(&host, IO_READ, 500000, 1, 0);
	expect_wait(100000);
	near = host_add(&host, IO_READ, 910000, 1, 0);
	/* It takes the head 10000: the arm has to come within that. */
	expect_wait(180000);
	host.now_ns = 150000; /* the arm is at 950000 */
	far = host_add(&host, IO_READ, 950000, 1, 0);
	passed = host_add(&host, IO_READ, 960000, 1, 0);
	/* The head is as far from it as the arm was 50000 ago. */
	expect_pick(far);
	CHECK_EQ(host_counter(&host, "turns"), 1);
	CHECK_EQ(host_counter(&host, "edge_sectors"), 100000);
	expect_pick(near);
	expect_pick(below);
	expect_wait(150000 + 500001);
	expect_wait(150000 + 2 * 500001);
	expect_pick(passed);
	host_exit(&host);
}

/* Whoever it was for is merged into another on the way. */
static void scan_ends_a_trip_for_nobody(void)
{
	struct io_request *below, *above;

	begin_trip("scan", 900000);
	below = host_add(&host, IO_READ, 500000, 1, 0);
	expect_wait(100000);
	host_take_back(&host, below);
	CHECK(!host_ask(&host));
	host.now_ns = 150000;
	host_put_back(&host, below);
	expect_wait(200000);
	host_take_back(&host, below);
	host.now_ns = 1000000;
	above = host_add(&host, IO_READ, 900001, 1, 0);
	expect_wait(1000000 + 900000);
	CHECK_EQ(host_counter(&host, "turns"), 1);
	expect_wait(1000000 + 2 * 900000);
	expect_pick(above);
	CHECK_EQ(host_counter(&host, "turns"), 2);
	host_exit(&host);
}

/* The arm does not pass a request, and goes on from there when it is merged into another. */
static void scan_waits_for_one_that_is_merged_away(void)
{
	struct io_request *below, *ahead;

	begin_trip("scan", 900000);
	below = host_add(&host, IO_READ, 500000, 1, 0);
	expect_wait(100000);
	host.now_ns = 50000; /* the arm is at 950000 */
	ahead = host_add(&host, IO_READ, 960000, 1, 0);
	host.now_ns = 80000;
	host_add(&host, IO_READ, 400000, 1, 0);
	host_take_back(&host, ahead);
	expect_wait(80000 + 40000);
	expect_wait(80000 + 40000 + 100000);
	expect_pick(below);
	host_exit(&host);
}

static void cscan_goes_around(void)
{
	struct io_request *low, *lowest, *ahead;

	begin_trip("cscan", 900000);
	low = host_add(&host, IO_READ, 500000, 1, 0);
	expect_wait(100000);
	/* The edge to 0, and on to 500000, of which the head needs 400000. */
	expect_wait(100000 + 1000000 + 500000 - 400000);
	host.now_ns = 250000;
	lowest = host_add(&host, IO_READ, 50000, 1, 0);
	expect_wait(100000 + 1000000 + 50000 - 850000);
	expect_pick(lowest);
	CHECK_EQ(host_counter(&host, "wraps"), 1);
	CHECK_EQ(host_counter(&host, "edge_sectors"), 300000);
	expect_pick(low);
	/* Somebody comes ahead of the arm, which is at 900000: no wrap. */
	low = host_add(&host, IO_READ, 100000, 1, 0);
	expect_wait(300000 + 499999);
	host.now_ns = 300000 + 399999;
	ahead = host_add(&host, IO_READ, 900000, 1, 0);
	expect_pick(ahead);
	CHECK_EQ(host_counter(&host, "wraps"), 1);
	expect_wait(699999 + 99999);
	expect_wait(699999 + 99999 + 1000000 + 100000 - 800001);
	expect_pick(low);
	CHECK_EQ(host_counter(&host, "wraps"), 2);
	host_exit(&host);
}

/* Whom the arm has passed waits for the next sweep, also after the return. */
static void cscan_passes_nobody_but_late_comers(void)
{
	struct io_request *high, *passed, *ahead;

	begin_trip("cscan", 900000);
	high = host_add(&host, IO_READ, 800000, 1, 0);
	expect_wait(100000);
	expect_wait(100000 + 1000000 + 800000 - 100000);
	host.now_ns = 1500000; /* the arm is at 400000 */
	passed = host_add(&host, IO_READ, 399999, 1, 0);
	expect_wait(1800000);
	host.now_ns = 1500000;
	ahead = host_add(&host, IO_READ, 400000, 1, 0);
	expect_pick(ahead);
	expect_pick(high);
	CHECK_EQ(host_counter(&host, "wraps"), 1);
	expect_wait(1500000 + 199999);
	expect_wait(1500000 + 199999 + 1000000 + 399999 - 400002);
	/* It is asked late: the arm waits at the request. */
	host.now_ns = 9000000;
	expect_pick(passed);
	CHECK_EQ(host_counter(&host, "wraps"), 2);
	host_exit(&host);
}

/* R counts in sizes of the disk as it is now, not as it was when it was chosen. */
static void vr_reckons_with_a_disk_that_grew(void)
{
	struct io_request *behind, *ahead;

	host_init_on(&host, "vr", 0);
	host.capacity_sectors = HOST_CAPACITY;
	contract_grown(&host.contract, HOST_CAPACITY);
	head_to(500000);
	behind = host_add(&host, IO_READ, 490000, 1, 0);
	ahead = host_add(&host, IO_READ, 650000, 1, 0);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_expect(&host, behind, PICK_ORDER, MS);
	host_exit(&host);
}

int main(void)
{
	textbooks();
	weighs_turns();
	weighs_turns_to_the_sector();
	ties();
	scan_goes_to_the_edge_and_back();
	scan_meets_late_comers_on_the_way_out();
	scan_meets_late_comers_on_the_way_back();
	scan_ends_a_trip_for_nobody();
	scan_waits_for_one_that_is_merged_away();
	cscan_goes_around();
	cscan_passes_nobody_but_late_comers();
	check_seeds(300, random_case);
	vr_reckons_with_a_disk_that_grew();
	return 0;
}
