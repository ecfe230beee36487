// SPDX-License-Identifier: MIT
/* The table against a search through all orders. */
#include "../../core/optimal_order.h"
#include "check.h"

#define MOST 9

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Sum of response times of an order; also checks that it is a permutation. */
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

/* Cheapest sum over all orders of what is left, given up above the bound. */
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

static struct optimal_order table;

/* Narrow ranges give duplicates and ties, wide ones neither. */
static void random_case(struct draw *draw)
{
	u64 range = draw_below(draw, 2) ? 12 : 1000000;
	u32 n = 1 + draw_below(draw, MOST);
	u64 head = draw_below(draw, range);
	u64 got;
	u32 i;

	for (i = 0; i < n; i++)
		table.position[i] = draw_below(draw, range);
	sort(table.position, n);
	switch (draw_below(draw, 8)) {
	case 0:
		head = 0;
		break;
	case 1:
		head = range;
		break;
	case 2:
		head = table.position[draw_below(draw, n)];
		break;
	}
	optimal_order_find(&table, n, head);
	got = cost_of(table.position, table.order, n, head);
	CHECK_EQ(brute_force(table.position, n, (1u << n) - 1, head, 0, got + 1), got);
}

static void expect(u64 head, u32 n, const u64 *position, const u32 *order)
{
	u32 i;

	memcpy(table.position, position, n * sizeof(*position));
	optimal_order_find(&table, n, head);
	for (i = 0; i < n; i++)
		CHECK_EQ(table.order[i], order[i]);
}

static void known_orders(void)
{
	/* PERFORM 2010 Table 1 and the slides' example. */
	expect(100, 4, (u64[]){ 20, 82, 120, 200 }, (u32[]){ 2, 1, 0, 3 });
	expect(50, 4, (u64[]){ 10, 41, 60, 95 }, (u32[]){ 2, 1, 0, 3 });
	/* A tie goes up. */
	expect(50, 2, (u64[]){ 40, 60 }, (u32[]){ 1, 0 });
	/* The head's own place first, duplicates as given on both sides. */
	expect(50, 5, (u64[]){ 40, 40, 50, 50, 90 }, (u32[]){ 2, 3, 0, 1, 4 });
	expect(0, 3, (u64[]){ 7, 7, 7 }, (u32[]){ 0, 1, 2 });
	expect(9, 3, (u64[]){ 7, 7, 7 }, (u32[]){ 0, 1, 2 });
}

/* The largest table, everything on one side, then half on each. */
static void large(u64 head)
{
	struct optimal_order big;
	u32 n = 4096;
	u32 i;

	CHECK(optimal_order_init(&big, n) == 0);
	for (i = 0; i < n; i++)
		big.position[i] = (1ull << 48) / n * i;
	optimal_order_find(&big, n, head);
	for (i = 0; i < n; i++)
		CHECK(big.order[i] < n);
	if (!head)
		CHECK_EQ(big.order[n - 1], n - 1);
	optimal_order_exit(&big);
}

int main(void)
{
	CHECK(optimal_order_init(&table, MOST) == 0);
	known_orders();
	check_seeds(6000, random_case);
	optimal_order_exit(&table);
	large(0);
	large(1ull << 47);
	large(1ull << 48);
	return 0;
}
