// SPDX-License-Identifier: MIT
/*
 * CFQ: slices, classes, waits and the order in a queue by hand.  Then its guarantees:
 * equal time for equal readers, more time for a higher level, and no starvation within
 * the best-effort class.
 */
#include "by_hand.h"

#define SLICE (100 * MS)
#define ASYNC_SLICE (40 * MS)
#define ASYNC_MANY 16 /* writes allowed in a slice of the middle level */
#define IDLE_WAIT (8 * MS)
#define FAR_WAIT (2 * MS)
#define READ_EXPIRE (125 * MS)
#define WRITE_EXPIRE (250 * MS)

static struct io_request *urgent(u8 op, u32 owner, u64 sector, u8 io_class, u8 level)
{
	struct io_request *rq = host_new(&host, op, sector, 8, owner);

	rq->io_class = io_class;
	rq->level = level;
	host_put_back(&host, rq);
	return rq;
}

static void begin(void)
{
	host_init(&host, "cfq");
}

static void begin_without_waits(void)
{
	begin();
	host_set(&host, "slice_idle_ns", 0);
}

/* Expect requests of these owners in this order; each letter is an owner. */
static void expect_owners(const char *letter, u64 service_ns)
{
	for (; *letter; letter++) {
		struct io_request *rq = host_ask(&host);

		CHECK(rq);
		CHECK_EQ(rq->owner, (u32)*letter);
		host_finish(&host, rq, service_ns);
	}
}

static void reads_of(u32 owner, u32 n)
{
	while (n--)
		read_of(owner, 1000 * owner + 8 * n);
}

/* Slices. */

static void everybody_has_his_slice(void)
{
	begin_without_waits();
	reads_of('a', 6);
	reads_of('b', 6);
	reads_of('c', 2);
	expect_owners("aaabbbccaaabbb", SLICE / 3 + 1);
	CHECK_EQ(counter("sync_slices"), 5);
	CHECK_EQ(counter("used_up"), 3);
	CHECK_EQ(counter("emptied"), 1);
	host_exit(&host);
}

/* Level 0 has a slice of 9/5 of the base slice, level 7 of 2/5. */
static void the_level_decides_on_the_slice(void)
{
	u32 i;

	begin_without_waits();
	for (i = 0; i < 9; i++) {
		urgent(IO_READ, 'a', 1000, IO_CLASS_BEST_EFFORT, 0);
		urgent(IO_READ, 'b', 1000, IO_CLASS_BEST_EFFORT, 7);
	}
	expect_owners("aaaaaaaaabb", SLICE / 5);
	host_exit(&host);
}

/* All writes of a level share one queue, whoever wrote. */

static void writes_are_limited(void)
{
	u32 i;

	begin_without_waits();
	for (i = 0; i < 2 * ASYNC_MANY; i++)
		host_add(&host, IO_WRITE, 8 * i, 8, 'v' + i % 2);
	expect_owners("v", MS);
	reads_of('a', 1);
	expect_owners("wvwvwvwvwvwvwvwa", MS);
	expect_owners("vwvwvwvwvwvwvwvw", MS);
	CHECK_EQ(counter("limited"), 1);
	CHECK_EQ(counter("async_slices"), 2);
	host_exit(&host);
}

static void writes_have_a_slice_of_their_own(void)
{
	u32 i;

	begin_without_waits();
	for (i = 0; i < 4; i++)
		host_add(&host, IO_WRITE, 8 * i, 8, 'w');
	reads_of('a', 4);
	expect_owners("wwaaaaww", ASYNC_SLICE / 2);
	CHECK_EQ(host.nr_pending, 0);
	host_exit(&host);
}

/*
 * Each level has a write queue with a limit of its own; level 6 may send twice as many
 * as level 7.
 */
static void writes_of_each_level_are_writes(void)
{
	u8 level;

	begin();
	for (level = 0; level < IO_LEVELS; level++) {
		urgent(IO_WRITE, 'w', 1000, IO_CLASS_BEST_EFFORT, level);
		host_finish(&host, host_ask(&host), MS);
	}
	read_of('a', 1000);
	CHECK(host_ask(&host));
	CHECK_EQ(counter("async_slices"), IO_LEVELS);
	CHECK_EQ(counter("sync_slices"), 1);
	host_exit(&host);
}

static void writes_of_levels_take_turns(u8 io_class)
{
	u32 i;

	begin_without_waits();
	host_set(&host, "slice_async_rq", 1);
	for (i = 0; i < 5; i++) {
		urgent(IO_WRITE, 'v', 8 * i, io_class, 7);
		urgent(IO_WRITE, 'w', 8 * i, io_class, 6);
	}
	expect_owners("vvwwwwvvwv", MS);
	host_exit(&host);
}

/* Classes. */

static void classes_are_strict(void)
{
	begin_without_waits();
	urgent(IO_READ, 'i', 1000, IO_CLASS_IDLE, 0);
	urgent(IO_READ, 'b', 1000, IO_CLASS_BEST_EFFORT, 0);
	urgent(IO_READ, 'r', 1000, IO_CLASS_REALTIME, 7);
	urgent(IO_WRITE, 'w', 1000, IO_CLASS_REALTIME, 7);
	urgent(IO_READ, 'b', 1000, IO_CLASS_BEST_EFFORT, 0);
	expect_owners("rwbbi", MS);
	CHECK_EQ(counter("preempted"), 0);
	host_exit(&host);
}

/* The owner of the slice goes to the end of the round. */
static void a_more_urgent_class_ends_a_slice(void)
{
	begin_without_waits();
	reads_of('a', 3);
	reads_of('b', 2);
	expect_owners("a", MS);
	urgent(IO_READ, 'r', 1000, IO_CLASS_REALTIME, 4);
	expect_owners("rbbaa", MS);
	CHECK_EQ(counter("preempted"), 1);
	host_exit(&host);
}

static void a_more_urgent_class_ends_a_wait(void)
{
	struct io_request *far, *rq;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	far = read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	rq = urgent(IO_WRITE, 'r', 1000, IO_CLASS_REALTIME, 4);
	host_expect(&host, rq, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_cut"), 1);
	host_expect(&host, far, PICK_ORDER, MS);
	host_exit(&host);
}

/* Best-effort owners are waited for; the idle class is not, and must wait itself. */
static void the_idle_class_is_not_waited_for(void)
{
	struct io_request *first, *second;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	first = urgent(IO_READ, 'i', 1000, IO_CLASS_IDLE, 4);
	expect_wait(IDLE_WAIT);
	host.now_ns = host.wake_ns;
	host_expect(&host, first, PICK_ORDER, MS);
	second = urgent(IO_READ, 'j', 1000, IO_CLASS_IDLE, 4);
	host_expect(&host, second, PICK_ORDER, MS);
	host_exit(&host);
}

/* The more urgent request was not the one waited for, and is not counted as such. */
static void a_more_urgent_class_does_not_win_a_wait(void)
{
	struct io_request *near, *rq;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	near = read_of('a', 1008);
	rq = urgent(IO_WRITE, 'r', 1000, IO_CLASS_REALTIME, 4);
	CHECK_EQ(counter("waits_won"), 1);
	host_expect(&host, rq, PICK_ORDER, MS);
	CHECK(host.pending[near->id]);
	host_exit(&host);
}

/* When a process changes its class, its pending requests change too. */
static void a_class_may_change(void)
{
	begin_without_waits();
	reads_of('a', 2);
	reads_of('b', 1);
	reads_of('c', 1);
	urgent(IO_READ, 'b', 1000, IO_CLASS_REALTIME, 4);
	urgent(IO_READ, 'a', 1000, IO_CLASS_IDLE, 4);
	expect_owners("bbcaaa", MS);
	host_exit(&host);
}

/* Waits. */

static void a_wait_is_won(void)
{
	struct io_request *far, *near;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	far = read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	host.now_ns += 2 * MS;
	near = read_of('a', 9000);
	host_expect(&host, near, PICK_WAITED, MS);
	CHECK_EQ(counter("waits_won"), 1);
	expect_wait(IDLE_WAIT);
	host.now_ns = host.wake_ns;
	host_expect(&host, far, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_lost"), 1);
	CHECK_EQ(counter("emptied"), 1);
	host_exit(&host);
}

/* The wait had expired before the scheduler was asked again. */
static void who_comes_too_late_has_lost(void)
{
	struct io_request *near;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	host.now_ns = host.wake_ns;
	near = read_of('a', 1008);
	host_expect(&host, near, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_won"), 0);
	CHECK_EQ(counter("waits_lost"), 1);
	host_exit(&host);
}

/* The distance equals the limit; one sector farther would make the owner a seeker. */
static void who_reads_as_far_as_that_is_no_seeker(void)
{
	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	host_expect(&host, read_of('a', 1008 + 8192), PICK_ORDER, MS);
	read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	host_exit(&host);

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	host_expect(&host, read_of('a', 1008 + 8193), PICK_ORDER, MS);
	read_of('b', 500000);
	expect_wait(FAR_WAIT);
	host_exit(&host);
}

static void a_wait_ends_with_the_slice(void)
{
	struct io_request *far;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, SLICE - 3 * MS);
	far = read_of('b', 500000);
	expect_wait(3 * MS);
	host.now_ns = host.wake_ns;
	host_expect(&host, far, PICK_ORDER, MS);
	CHECK_EQ(counter("used_up"), 1);
	/* Too little of the slice is left for an owner with that think time. */
	host.now_ns += 5 * MS;
	host_expect(&host, read_of('b', 500000), PICK_ORDER, SLICE - 10 * MS);
	CHECK_EQ(counter("waits_spared"), 1);
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	host_exit(&host);
}

/* The slice ends with the owner's request, so no wait counts as spared. */
static void no_wait_begins_at_the_end_of_a_slice(void)
{
	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	host.now_ns += 2 * MS;
	host_expect(&host, read_of('a', 1008), PICK_ORDER, SLICE - 3 * MS);
	CHECK_EQ(counter("waits_spared"), 0);
	host_exit(&host);
}

/* However long a think time was, the scheduler waits for the owner again seven reads later. */
static void nobody_waits_for_a_thinker(void)
{
	struct io_request *other;
	u32 i;

	begin();
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	host.now_ns += 3600000 * MS;
	host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	other = read_of('b', 500000);
	host_expect(&host, other, PICK_ORDER, MS);
	CHECK_EQ(counter("waits_spared"), 1);
	host.now_ns += IDLE_WAIT;
	for (i = 0; i < 7; i++)
		host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
	read_of('b', 500000);
	expect_wait(IDLE_WAIT);
	host_exit(&host);
}

/* A process with a think time of exactly IDLE_WAIT is waited for; with 1 ns more, it is not. */
static void a_wait_is_as_long_as_the_thought(void)
{
	u64 longer_ns;

	for (longer_ns = 0; longer_ns < 2; longer_ns++) {
		begin();
		host_expect(&host, read_of('a', 1000), PICK_ORDER, MS);
		host.now_ns += IDLE_WAIT + longer_ns;
		host_expect(&host, read_of('a', 1008), PICK_ORDER, MS);
		CHECK_EQ(counter("waits_spared"), longer_ns);
		host_exit(&host);
	}
}

/* Begin with a disk that takes several requests at once. */

static void begin_with_two_at_once(void)
{
	host_init_deep(&host, "cfq", 2);
}

/* Both of its reads are dispatched, and its think time begins when both are complete. */
static void a_process_has_the_disk_to_itself(void)
{
	struct io_request *first, *second;

	begin_with_two_at_once();
	first = read_of('a', 1000);
	second = read_of('a', 1008);
	read_of('b', 500000);
	expect_next(first);
	expect_next(second);
	host_finish(&host, first, MS);
	expect_wait(SLICE - MS);
	host_finish(&host, second, MS);
	expect_wait(IDLE_WAIT);
	host_exit(&host);
}

/* A think time equal to the longest wait is short enough, even for a seeker. */
static void a_thinker_does_not_keep_his_slice(void)
{
	struct io_request *other;
	u64 longer_ns;

	for (longer_ns = 0; longer_ns < 2; longer_ns++) {
		begin_with_two_at_once();
		host_finish(&host, expect_next(read_of('a', 1000)), MS);
		host.now_ns += IDLE_WAIT + longer_ns;
		expect_next(read_of('a', 900000));
		other = read_of('b', 500000);
		CHECK(host_ask(&host) == (longer_ns ? other : NULL));
		host_exit(&host);
	}
}

/*
 * At depth five the disk orders requests well, so other owners' requests join a
 * seeker's, but not a sequential reader's.
 */
static void a_deep_disk_is_not_kept_for_a_seeker(u32 depth, u64 sector, bool alone)
{
	struct io_request *first, *other;

	host_init_deep(&host, "cfq", depth);
	host_finish(&host, expect_next(read_of('a', 1000)), MS);
	first = expect_next(read_of('a', sector));
	other = read_of('b', 500000);
	CHECK(host_ask(&host) == (alone ? NULL : other));
	host_finish(&host, first, MS);
	host_exit(&host);
}

/* Order in a queue. */

static void ascending_with_short_steps_back(void)
{
	struct io_request *far_back, *ahead, *back, *second;

	begin_without_waits();
	host_expect(&host, read_of('a', 100000), PICK_ORDER, MS);
	host_set(&host, "back_seek_max", 1000);
	far_back = read_of('a', 100008 - 1001);
	ahead = read_of('a', 100008 + 801);
	back = read_of('a', 100008 - 400);
	second = read_of('a', 100008 - 400);
	host_expect(&host, back, PICK_ORDER, MS);
	host_expect(&host, second, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 2);
	host_set(&host, "back_seek_max", 10);
	host_expect(&host, ahead, PICK_ORDER, MS);
	host_expect(&host, far_back, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 2);
	host_exit(&host);
}

/* A request at the head, or in the next sweep, does not count as a step back. */
static void other_ways_are_no_steps_back(void)
{
	struct io_request *at_the_head, *lowest;

	begin_without_waits();
	host_set(&host, "back_seek_max", 1000);
	host_expect(&host, read_of('a', 100000), PICK_ORDER, MS);
	lowest = read_of('a', 0);
	at_the_head = read_of('a', 100008);
	host_expect(&host, at_the_head, PICK_ORDER, MS);
	host_expect(&host, lowest, PICK_ORDER, MS);
	CHECK_EQ(counter("back_steps"), 0);
	host_exit(&host);
}

/* An expired request is served first, once in each slice. */
static void the_expired_begin_a_slice(void)
{
	struct io_request *old[2], *ahead, *write, *younger;

	begin_without_waits();
	host_set(&host, "back_seek_max", 0);
	host_expect(&host, read_of('b', 400000), PICK_ORDER, MS);
	old[0] = read_of('a', 1000);
	old[1] = read_of('a', 500);
	ahead = read_of('a', 500000);
	host.now_ns += READ_EXPIRE;
	host_expect(&host, old[0], PICK_EXPIRED, MS);
	host_expect(&host, ahead, PICK_ORDER, SLICE);
	host_expect(&host, old[1], PICK_EXPIRED, MS);
	CHECK_EQ(counter("expired"), 2);
	write = write_at(1000);
	host.now_ns += WRITE_EXPIRE;
	younger = write_at(2000);
	host_expect(&host, write, PICK_EXPIRED, MS);
	host_expect(&host, younger, PICK_ORDER, MS);
	host_exit(&host);
}

/* Measure the time given to readers whose next read is always pending. */

#define BRIEF (2 * MS) /* a short slice, so that there are many */

static u64 time_ns[4]; /* by owner */

static void run_readers(u32 readers, u8 level_of_first, u64 longest_ns,
			struct draw *draw)
{
	u32 i;

	begin();
	host_set(&host, "slice_sync_ns", BRIEF);
	memset(time_ns, 0, sizeof(time_ns));
	for (i = 0; i < readers; i++)
		urgent(IO_READ, i, 1000 * i, IO_CLASS_BEST_EFFORT,
		       i ? IO_LEVEL_DEFAULT : level_of_first);
	while (host.count < HOST_REQUESTS) {
		struct io_request *rq = host_ask(&host);
		u64 service_ns = 1 + draw_below(draw, longest_ns);

		CHECK(rq);
		host_finish(&host, rq, service_ns);
		time_ns[rq->owner] += service_ns;
		urgent(IO_READ, rq->owner, rq->sector + 8, IO_CLASS_BEST_EFFORT,
		       rq->level);
	}
	CHECK_EQ(counter("waits_won") + counter("waits_lost"), 0);
	host_exit(&host);
}

/*
 * All rounds but the last are complete, so times differ by at most a slice and the service that
 * ends after it.
 */
static void equal_readers_have_equal_time(struct draw *draw)
{
	u64 longest_ns = MS / 8 + draw_below(draw, MS / 2);
	u32 readers = 2 + draw_below(draw, 3);
	u32 i;

	run_readers(readers, IO_LEVEL_DEFAULT, longest_ns, draw);
	for (i = 1; i < readers; i++) {
		u64 rounds = time_ns[i] / BRIEF + 1;
		u64 most = BRIEF + rounds * longest_ns;

		CHECK(time_ns[i] <= time_ns[0] + most);
		CHECK(time_ns[0] <= time_ns[i] + most);
	}
}

/* Nine fifths, within a tenth. */
static void a_better_level_has_more_time(struct draw *draw)
{
	run_readers(2, 0, MS / 2, draw);
	CHECK(time_ns[0] * 10 > time_ns[1] * 16);
	CHECK(time_ns[0] * 10 < time_ns[1] * 20);
}

/*
 * Nobody starves, within a class.  A round has one slice for each queue, plus the
 * service under way when the slice ends.  Each slice begins with the queue's oldest
 * request if that has expired.
 */

#define SHORT (10 * MS)
#define LONGEST_SERVICE (6 * MS)

static u64 rank[HOST_REQUESTS]; /* position in its queue on arrival, from 1 */
static u32 owners;
static u64 counted[5];

static bool in_one_queue(const struct io_request *a, const struct io_request *b)
{
	return a->op == b->op && (a->op == IO_WRITE || a->owner == b->owner);
}

static void see_arrival(struct host *h, const struct io_request *rq)
{
	u32 i;

	if (rank[rq->id]) /* the request it merged with */
		return;
	for (i = 0; i <= rq->id; i++)
		rank[rq->id] += h->pending[i] && in_one_queue(&h->request[i], rq);
}

static void see_pick(struct host *h, const struct io_request *rq)
{
	u64 round_ns = (owners + 1) * (SHORT + LONGEST_SERVICE);

	if (rq)
		CHECK(h->now_ns - rq->arrival_ns <=
		      2 * SHORT + (rank[rq->id] + 1) * round_ns);
	else
		CHECK(!h->nr_pending || h->wake_ns <= h->now_ns + IDLE_WAIT);
}

static void random_case(struct draw *draw)
{
	struct host_load load = {
		.requests = 450,
		.owners = 1 + draw_below(draw, 8),
		.writes_percent = draw_below(draw, 101),
		.merges_percent = 10,
		.gap_ns = draw_below(draw, 2 * MS),
		.sectors = HOST_CAPACITY,
		.arriving = set_place,
		.added = see_arrival,
		.picked = see_pick,
	};

	memset(rank, 0, sizeof(rank));
	owners = load.owners;
	begin();
	host_set(&host, "slice_sync_ns", SHORT);
	host_set(&host, "slice_async_ns", SHORT);
	host_set(&host, "fifo_expire_sync_ns", 2 * SHORT);
	host_set(&host, "fifo_expire_async_ns", 2 * SHORT);
	host_run(&host, draw, &load);
	counted[0] += counter("waits_won");
	counted[1] += counter("waits_lost");
	counted[2] += counter("expired");
	counted[3] += counter("limited");
	counted[4] += counter("back_steps");
	host_exit(&host);
}

int main(void)
{
	everybody_has_his_slice();
	the_level_decides_on_the_slice();
	writes_are_limited();
	writes_have_a_slice_of_their_own();
	writes_of_each_level_are_writes();
	writes_of_levels_take_turns(IO_CLASS_REALTIME);
	writes_of_levels_take_turns(IO_CLASS_BEST_EFFORT);
	writes_of_levels_take_turns(IO_CLASS_IDLE);
	classes_are_strict();
	a_more_urgent_class_ends_a_slice();
	a_more_urgent_class_ends_a_wait();
	the_idle_class_is_not_waited_for();
	a_more_urgent_class_does_not_win_a_wait();
	a_class_may_change();
	a_wait_is_won();
	who_comes_too_late_has_lost();
	who_reads_as_far_as_that_is_no_seeker();
	a_wait_ends_with_the_slice();
	no_wait_begins_at_the_end_of_a_slice();
	nobody_waits_for_a_thinker();
	a_wait_is_as_long_as_the_thought();
	a_process_has_the_disk_to_itself();
	a_thinker_does_not_keep_his_slice();
	a_deep_disk_is_not_kept_for_a_seeker(4, 900000, true);
	a_deep_disk_is_not_kept_for_a_seeker(5, 900000, false);
	a_deep_disk_is_not_kept_for_a_seeker(5, 1008, true);
	ascending_with_short_steps_back();
	other_ways_are_no_steps_back();
	the_expired_begin_a_slice();
	check_seeds(50, equal_readers_have_equal_time);
	check_seeds(50, a_better_level_has_more_time);
	check_seeds(500, random_case);
	CHECK(getenv("CHECK_SEED") ||
	      (counted[0] && counted[1] && counted[2] && counted[3] && counted[4]));
	return 0;
}
