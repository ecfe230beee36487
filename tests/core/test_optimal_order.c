// SPDX-License-Identifier: MIT
/*
 * The optimal order against a search through all orders for a few points, and against the papers'
 * table, ties included, for many.
 */
#include "../../core/plan.h"
#include "check.h"
#include "order_table.h"

#define MOST 4096
#define FARTHEST (1ull << 48)
#define SEARCHED 9
#define PLACES 8

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Return the sum of response times of an order, and check that the order is a permutation. */
static u64 cost_of(const u64 *position, const u32 *order, u32 n, u64 head)
{
	u64 clock = 0;
	u64 sum = 0;
	u64 seen = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		CHECK(order[i] < n);
		CHECK(!(seen >> order[i] & 1));
		seen |= 1ull << order[i];
		clock += distance(head, position[order[i]]);
		head = position[order[i]];
		sum += clock;
	}
	return sum;
}

/* Return the cheapest sum over all orders of the remaining points; stop above the bound. */
static u64 brute_force(const u64 *position, u32 n, u32 left, u64 head, u64 sum,
		       u64 bound)
{
	u32 waiting = __builtin_popcount(left);
	u32 i;

	if (sum >= bound)
		return bound;
	if (!left)
		return sum;
	for (i = 0; i < n; i++) {
		if (left >> i & 1)
			bound = brute_force(position, n, left & ~(1u << i), position[i],
					    sum + distance(head, position[i]) * waiting,
					    bound);
	}
	return bound;
}

static void sort(u64 *value, u32 n)
{
	u32 i, j;

	for (i = 1; i < n; i++) {
		u64 x = value[i];

		for (j = i; j && value[j - 1] > x; j--)
			value[j] = value[j - 1];
		value[j] = x;
	}
}

static struct optimal_order room;
static struct order_table table;

/* Narrow ranges produce duplicates and ties, and wide ranges neither. */
static void small_case(struct draw *draw)
{
	u64 range = draw_below(draw, 2) ? 12 : 1000000;
	u32 n = 1 + draw_below(draw, SEARCHED);
	u64 head = draw_below(draw, range);
	u64 got;
	u32 i;

	for (i = 0; i < n; i++)
		room.position[i] = draw_below(draw, range);
	sort(room.position, n);
	switch (draw_below(draw, 8)) {
	case 0:
		head = 0;
		break;
	case 1:
		head = range;
		break;
	case 2:
		head = room.position[draw_below(draw, n)];
		break;
	}
	optimal_order_find(&room, n, head);
	got = cost_of(room.position, room.order, n, head);
	CHECK_EQ(brute_force(room.position, n, (1u << n) - 1, head, 0, got + 1), got);
}

static void expect(u64 head, u32 n, const u64 *position, const u32 *order)
{
	u32 i;

	memcpy(room.position, position, n * sizeof(*position));
	optimal_order_find(&room, n, head);
	for (i = 0; i < n; i++)
		CHECK_EQ(room.order[i], order[i]);
}

static void known_orders(void)
{
	/* The examples of PERFORM 2010 Table 1 and of the slides. */
	expect(100, 4, (u64[]){ 20, 82, 120, 200 }, (u32[]){ 2, 1, 0, 3 });
	expect(50, 4, (u64[]){ 10, 41, 60, 95 }, (u32[]){ 2, 1, 0, 3 });
	/* A tie goes up. */
	expect(50, 2, (u64[]){ 40, 60 }, (u32[]){ 1, 0 });
	/*
	 * Points at the head's position come first; duplicates keep their given order on both
	 * sides.
	 */
	expect(50, 5, (u64[]){ 40, 40, 50, 50, 90 }, (u32[]){ 2, 3, 0, 1, 4 });
	expect(0, 3, (u64[]){ 7, 7, 7 }, (u32[]){ 0, 1, 2 });
	expect(9, 3, (u64[]){ 7, 7, 7 }, (u32[]){ 0, 1, 2 });
}

/*
 * Check that the order equals the table's, not only its cost.  Return how often the head changes
 * direction.
 */
static u32 check_with_table(u32 n, u64 head)
{
	u32 turns = 0;
	u32 i;

	memcpy(table.position, room.position, n * sizeof(*room.position));
	order_table_find(&table, n, head);
	optimal_order_find(&room, n, head);
	for (i = 0; i < n; i++) {
		CHECK_EQ(room.order[i], table.order[i]);
		turns += i && (room.position[room.order[i]] < head) !=
				      (room.position[room.order[i - 1]] < head);
	}
	return turns;
}

/*
 * Test all multisets of n points at a few positions, from all heads, which covers every pattern of
 * ties.
 */
static void all_ties(u32 n, u32 filled, u64 lowest)
{
	u64 position;

	if (filled == n) {
		for (position = 0; position <= PLACES; position++)
			check_with_table(n, position);
		return;
	}
	for (position = lowest; position < PLACES; position++) {
		room.position[filled] = position;
		all_ties(n, filled + 1, position);
	}
}

/*
 * Uniform random positions lead to orders with few turns.  Many turns need positions that become
 * sparser with distance, or clusters, some of them at a single position.
 */
static u64 random_place(struct draw *draw, u32 spread, u64 head, u64 cluster)
{
	u32 ring = draw_zipf(draw, spread);
	u64 away = draw_below(draw, 2ull << ring);
	u64 from = draw_below(draw, 3) ? head : cluster;

	if (draw_below(draw, 2))
		return from + away;
	return from > away ? from - away : 0;
}

static u32 most_turns;

static void large_case(struct draw *draw, u32 most)
{
	u32 n = draw_below(draw, most + 1);
	u32 spread = 1 + draw_below(draw, 44);
	u64 head = draw_below(draw, 1ull << draw_below(draw, 45));
	u64 cluster = random_place(draw, spread, head, head);
	u32 turns;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!draw_below(draw, 16))
			cluster = random_place(draw, spread, head, head);
		room.position[i] = random_place(draw, spread, head, cluster);
	}
	sort(room.position, n);
	if (n && !draw_below(draw, 8))
		head = room.position[draw_below(draw, n)];
	turns = check_with_table(n, head);
	if (turns > most_turns)
		most_turns = turns;
}

static void medium_cases(struct draw *draw)
{
	large_case(draw, 60);
}

static void large_cases(struct draw *draw)
{
	large_case(draw, 2000);
}

/* Accept the largest product that fits into 64 bits, and refuse more. */
static void too_far(void)
{
	struct optimal_order other;

	CHECK_EQ(optimal_order_init(&other, 1 << 15, FARTHEST), -EINVAL);
	CHECK_EQ(optimal_order_init(&other, 1 << 15, FARTHEST - 1), 0);
	optimal_order_exit(&other);
}

/* Use the maximum number of points, at the maximum distance. */
static void farthest_places(u32 low, u64 head)
{
	u32 i;

	for (i = 0; i < MOST; i++)
		room.position[i] = i < low ? 0 : 1ull << 48;
	check_with_table(MOST, head);
	for (i = 0; i < MOST; i++)
		room.position[i] = (1ull << 48) / MOST * i;
	check_with_table(MOST, head);
}

/* A plan lasts until its end, or until it is dropped; then a new plan is built. */
static void a_plan_is_kept_while_it_holds(void)
{
	struct io_request near = { .sector = 100, .id = 1 }, far = { .sector = 900 };
	struct sched_limits limits = { .capacity_sectors = 1000, .max_requests = 2 };
	struct sorted_queue pending;
	struct plan plan = { .built = 0 };
	u32 i;

	CHECK_EQ(plan_init(&plan, &limits), 0);
	CHECK_EQ(sorted_queue_init(&pending, 2), 0);
	sorted_queue_add(&pending, &near);
	sorted_queue_add(&pending, &far);
	for (i = 1; i <= 3; i++) {
		CHECK(plan_next(&plan, &pending, 0) == &near);
		CHECK_EQ(plan.built, i);
		CHECK(plan_next(&plan, &pending, 100) == &far);
		CHECK_EQ(plan.built, i);
	}
	CHECK(plan_next(&plan, &pending, 0) == &near);
	plan_forget(&plan);
	CHECK(plan_next(&plan, &pending, 900) == &far);
	CHECK_EQ(plan.built, 5);
	sorted_queue_exit(&pending);
	plan_exit(&plan);
}

/*
 * Positions beyond 2^64 / (2 * max) count as at that limit, because larger weights would overflow.
 */
static void a_plan_looks_only_so_far(void)
{
	struct io_request beyond = { .sector = 1ull << 63, .id = 1 };
	struct io_request near = { .sector = (1ull << 62) - 10 };
	struct sched_limits limits = { .capacity_sectors = 0, .max_requests = 2 };
	struct sorted_queue pending;
	struct plan plan = { .built = 0 };

	CHECK_EQ(plan_init(&plan, &limits), 0);
	CHECK_EQ(sorted_queue_init(&pending, 2), 0);
	sorted_queue_add(&pending, &beyond);
	sorted_queue_add(&pending, &near);
	CHECK(plan_next(&plan, &pending, 1ull << 62) == &beyond);
	CHECK(plan_next(&plan, &pending, 1ull << 62) == &near);
	sorted_queue_exit(&pending);
	plan_exit(&plan);
}

int main(void)
{
	u32 n;

	a_plan_is_kept_while_it_holds();
	a_plan_looks_only_so_far();

	CHECK(optimal_order_init(&room, MOST, FARTHEST) == 0);
	too_far();
	CHECK(order_table_init(&table, MOST) == 0);
	known_orders();
	check_seeds(6000, small_case);
	for (n = 0; n <= 7; n++)
		all_ties(n, 0, 0);
	check_seeds(20000, medium_cases);
	check_seeds(200, large_cases);
	CHECK(getenv("CHECK_SEED") || most_turns >= 8);
	farthest_places(MOST / 2, 0);
	farthest_places(MOST / 2, 1ull << 47);
	farthest_places(MOST / 2, 1ull << 48);
	farthest_places(1, (1ull << 48) - 1);
	farthest_places(MOST - 1, 1);
	order_table_exit(&table);
	optimal_order_exit(&room);
	return 0;
}
