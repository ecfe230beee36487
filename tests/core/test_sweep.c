// SPDX-License-Identifier: MIT
/*
 * The classic schedulers: the textbooks' example, and random loads against one naive definition of
 * all.  SCAN and C-SCAN are also compared with an arm that moves sector by sector.
 */
#include <string.h>

#include "../../core/least.h"
#include "host.h"
#include "schedulers.h"

#define CYLINDER 5000ull /* 200 of them are HOST_CAPACITY */
#define FAR (1ull << 40)

static struct host host;

/* Move the head by serving a request that ends there. */
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

/* Expect the pending requests on these cylinders, in this order. */
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

/* The head is at 53, and came from below or, if down, from 100. */
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

/*
 * One definition for all schedulers: the request with the least rank is next, and the rank is the
 * distance.  A request behind the head counts as turn_sectors farther.  For circular schedulers it
 * comes after all requests ahead, in ascending order.  FCFS ranks by id, and SPTF by the disk's
 * estimate, less a bonus for age.
 */
static struct naive {
	enum { BY_DISTANCE, BY_NUMBER, BY_TIME } by;
	u64 turn_sectors;
	bool circular;
	u64 age_permille;
	u64 head;
	bool down;
	u64 turns;
	u64 travel;
	u64 positioning_ns;
	u64 aged;
} naive;

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static bool is_behind(const struct io_request *rq)
{
	return naive.down ? rq->sector > naive.head : rq->sector < naive.head;
}

static s64 rank(const struct io_request *rq)
{
	if (naive.by == BY_NUMBER)
		return 0;
	if (naive.by == BY_TIME)
		return (s64)host_positioning_ns(&host, rq, host.now_ns) -
		       (s64)((host.now_ns - rq->arrival_ns) * naive.age_permille /
			     1000);
	if (naive.circular)
		return is_behind(rq) ? FAR + rq->sector : rq->sector;
	return distance(rq->sector, naive.head) +
	       (is_behind(rq) ? naive.turn_sectors : 0);
}

static bool is_before(const struct io_request *a, const struct io_request *b)
{
	if (rank(a) != rank(b))
		return rank(a) < rank(b);
	if (naive.by == BY_DISTANCE && a->sector != b->sector)
		return a->sector > b->sector;
	return a->id < b->id;
}

static void check_pick(struct host *h, const struct io_request *rq)
{
	bool aged = false;
	u64 ns;
	u32 i;

	if (!rq)
		return;
	CHECK_EQ(rq->reason, PICK_ORDER);
	ns = host_positioning_ns(h, rq, h->now_ns);
	for (i = 0; i < h->count; i++) {
		const struct io_request *other = &h->request[i];

		CHECK(!h->pending[i] || is_before(rq, other));
		aged |= h->pending[i] && host_positioning_ns(h, other, h->now_ns) < ns;
	}
	naive.positioning_ns += ns;
	naive.aged += aged;
	naive.travel += distance(rq->sector, naive.head);
	if (is_behind(rq)) {
		naive.turns++;
		naive.down = !naive.down && !naive.circular;
	}
	naive.head = request_end(rq);
}

static void run_against(const char *scheduler, struct naive definition,
			struct draw *draw, const char *tunable, u64 value)
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
	if (tunable)
		host_set(&host, tunable, value);
	host_run(&host, draw, &load);
	if (naive.by == BY_DISTANCE) {
		CHECK_EQ(host_counter(&host, naive.circular ? "wraps" : "turns"),
			 naive.turns);
		CHECK_EQ(host_counter(&host, "travel_sectors"), naive.travel);
	}
	if (naive.by == BY_TIME) {
		CHECK_EQ(host_counter(&host, "positioning_ns"), naive.positioning_ns);
		CHECK_EQ(host_counter(&host, "aged"), naive.aged);
	}
	host_exit(&host);
}

static void random_case(struct draw *draw)
{
	u64 r_milli = draw_below(draw, 1001);
	u64 age_permille = draw_below(draw, 2) * draw_below(draw, 1001);
	struct naive fcfs = { .by = BY_NUMBER };
	struct naive sptf = { .by = BY_TIME, .age_permille = age_permille };
	struct naive sstf = { .turn_sectors = 0 };
	struct naive look = { .turn_sectors = FAR };
	struct naive vr = { .turn_sectors = HOST_CAPACITY * r_milli / 1000 };
	struct naive clook = { .circular = true };

	run_against("fcfs", fcfs, draw, NULL, 0);
	run_against("sptf", sptf, draw, "age_permille", age_permille);
	run_against("sstf", sstf, draw, NULL, 0);
	run_against("look", look, draw, NULL, 0);
	run_against("clook", clook, draw, NULL, 0);
	run_against("vr", vr, draw, "r_milli", r_milli);
	run_against("vr", sstf, draw, "r_milli", 0);
	run_against("vr", look, draw, "r_milli", 1000);
	run_against("scan", look, draw, NULL, 0);
	run_against("cscan", clook, draw, NULL, 0);
}

/*
 * The arm of SCAN and C-SCAN moves one sector each nanosecond.  SCAN's goes from the head to the
 * edge ahead and back.  C-SCAN's goes to the upper edge, down to 0 without serving, and up again.
 */
#define SMALL 40

static struct arm {
	enum leg { AT_THE_HEAD, OUT, DOWN_TO_0, BACK } leg;
	bool circular;
	bool down;
	u64 head;
	u64 at;
	u64 now_ns;
	u64 come; /* distance moved since the head */
	u64 turns; /* or wraps */
	u64 edge_sectors;
} arm;

/* Return the arm's distance to a request, or U64_MAX if the request is behind. */
static u64 arms_way(const struct io_request *rq)
{
	if (arm.leg == DOWN_TO_0)
		return arm.at + rq->sector;
	if (arm.down ? rq->sector > arm.at : rq->sector < arm.at)
		return U64_MAX;
	return distance(rq->sector, arm.at);
}

/* Return the nearest request ahead of the arm; of several, the oldest. */
static struct io_request *next_of_the_arm(void)
{
	struct io_request *nearest = NULL;
	u32 i;

	for (i = 0; i < host.count; i++) {
		struct io_request *rq = &host.request[i];

		if (host.pending[i] && arms_way(rq) != U64_MAX &&
		    (!nearest || arms_way(rq) < arms_way(nearest)))
			nearest = rq;
	}
	return nearest;
}

/* Change the arm's leg if the arm is at its end. */
static void corner(void)
{
	if (arm.leg == OUT && arm.at == (arm.down ? 0 : SMALL)) {
		arm.turns++;
		arm.down = !arm.down && !arm.circular;
		arm.leg = arm.circular ? DOWN_TO_0 : BACK;
	}
	if (arm.leg == DOWN_TO_0 && !arm.at)
		arm.leg = BACK;
	if (arm.leg == BACK && arm.at == arm.head) {
		arm.edge_sectors += arm.come;
		arm.leg = AT_THE_HEAD;
	}
}

/* Move the arm; it stops at a request until the scheduler is asked. */
static void go_on(u64 until_ns)
{
	for (; arm.now_ns < until_ns; arm.now_ns++) {
		const struct io_request *rq = next_of_the_arm();

		if (arm.leg == AT_THE_HEAD || (rq && !arms_way(rq)))
			continue;
		arm.at += arm.down || arm.leg == DOWN_TO_0 ? -1 : 1;
		arm.come++;
		corner();
	}
}

static struct io_request *choice_of_the_arm(void)
{
	struct io_request *rq = next_of_the_arm();

	if (arm.leg == AT_THE_HEAD && !rq) {
		arm.leg = OUT;
		arm.come = 0;
		corner();
		rq = next_of_the_arm();
	}
	return rq && arms_way(rq) <= distance(rq->sector, arm.head) ? rq : NULL;
}

static void arm_serves(const struct io_request *rq)
{
	if (arm.leg != AT_THE_HEAD)
		arm.edge_sectors +=
			arm.come + arms_way(rq) - distance(rq->sector, arm.head);
	arm.leg = AT_THE_HEAD;
	arm.head = arm.at = request_end(rq);
}

/*
 * Ask the scheduler and the arm, which must agree; a wake-up must not be later than the arm's next
 * answer.
 */
static void ask_both(void)
{
	u64 until_ns;
	struct io_request *rq;
	struct arm now;

	if (!host.nr_pending) {
		CHECK(!host_ask(&host));
		return;
	}
	go_on(host.now_ns);
	rq = choice_of_the_arm();
	if (rq) {
		arm_serves(rq);
		host_expect(&host, rq, PICK_ORDER, 0);
		return;
	}
	CHECK(!host_ask(&host));
	now = arm;
	for (until_ns = host.now_ns; until_ns < host.wake_ns; until_ns++) {
		go_on(until_ns);
		CHECK(!choice_of_the_arm());
	}
	arm = now;
}

/* Let a request arrive, grow or merge, or ask the scheduler. */
static void something_happens(struct draw *draw)
{
	u64 what = draw_below(draw, 6);
	u64 sector = draw_below(draw, SMALL);
	struct io_request *rq = &host.request[draw_below(draw, host.count + 1)];

	if (what < 2 && host.nr_pending < HOST_PENDING) {
		go_on(host.now_ns);
		host_add(&host, IO_READ, sector,
			 1 + draw_below(draw, nearer(3, SMALL - sector)), 0);
	} else if (what < 4) {
		ask_both();
	} else if (rq < host.request + host.count && host.pending[rq - host.request]) {
		host_take_back(&host, rq);
		if (what == 4)
			return;
		go_on(host.now_ns);
		rq->sectors += request_end(rq) < SMALL;
		host_put_back(&host, rq);
	}
}

static void arms_go_to_the_edge(struct draw *draw)
{
	u32 i;

	arm = (struct arm){ .circular = draw_below(draw, 2) };
	host_init_on(&host, arm.circular ? "cscan" : "scan", SMALL);
	host_set(&host, "full_seek_ns", SMALL);
	for (i = 0; i < 60; i++) {
		host.now_ns += draw_below(draw, 2) * draw_below(draw, 50);
		something_happens(draw);
	}
	while (host.nr_pending) {
		host.now_ns += 5 * SMALL;
		ask_both();
	}
	CHECK_EQ(host_counter(&host, arm.circular ? "wraps" : "turns"), arm.turns);
	CHECK_EQ(host_counter(&host, "edge_sectors"), arm.edge_sectors);
	host_exit(&host);
}

/*
 * At equal distance, with the penalty for a turn, the request ahead is next; one sector farther,
 * the request behind.
 */
static void vr_counts_a_turn_to_the_sector(u64 farther)
{
	struct io_request *ahead, *behind;

	host_init(&host, "vr");
	host_set(&host, "r_milli", 100);
	head_to(500000);
	ahead = host_add(&host, IO_READ, 650000 + farther, 1, 0);
	behind = host_add(&host, IO_READ, 450000, 1, 0);
	host_expect(&host, farther ? behind : ahead, PICK_ORDER, MS);
	host_exit(&host);
}

/*
 * The farther request takes 2 ms more; at 10 permille of its age, it goes first once it is 200 ms
 * older.
 */
static void sptf_counts_age_to_the_ns(u64 older_ns)
{
	struct io_request *far, *near;

	host_init(&host, "sptf");
	far = host_add(&host, IO_READ, 400000, 8, 0);
	host.now_ns = older_ns;
	near = host_add(&host, IO_READ, 0, 8, 0);
	host_expect(&host, older_ns < 200 * MS ? near : far, PICK_ORDER, MS);
	host_exit(&host);
}

/* R is a fraction of the disk's current size, not of its size when R was set. */
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

static void sptf_without_a_model_is_refused(void)
{
	const struct scheduler *sptf = registry_find("sptf");
	struct sched_limits limits = { .capacity_sectors = HOST_CAPACITY,
				       .max_requests = HOST_PENDING };
	struct contract contract;
	void *state = registry_new_state(sptf);

	CHECK_EQ(contract_init(&contract, sptf, state, &limits, host.request,
			       sizeof(host.request[0]), HOST_REQUESTS),
		 -ENODEV);
	CHECK(!contract_is_broken(&contract));
	contract_exit(&contract);
	port_free(state);
}

int main(void)
{
	textbooks();
	check_seeds(300, random_case);
	check_seeds(5000, arms_go_to_the_edge);
	vr_counts_a_turn_to_the_sector(0);
	vr_counts_a_turn_to_the_sector(1);
	vr_reckons_with_a_disk_that_grew();
	sptf_counts_age_to_the_ns(200 * MS - 1);
	sptf_counts_age_to_the_ns(200 * MS);
	sptf_without_a_model_is_refused();
	return 0;
}
