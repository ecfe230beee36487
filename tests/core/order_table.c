// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "order_table.h"

enum end {
	LOWER = 0,
	UPPER = 1,
	ENDS = 2,
};

/* The points of one problem, and its table. */
struct problem {
	const u64 *position;
	u64 *upward;
	u64 head;
	u32 n;
	u32 below; /* points below the head */
	u32 above; /* points at or above it */
};

static u32 words_of_bits(u64 bits)
{
	return (bits + 63) / 64;
}

int order_table_init(struct order_table *table, u32 max)
{
	u64 side = max / 2 + 1;
	u64 states = side * (max - max / 2 + 1) * ENDS;

	table->max = max;
	table->position = port_zalloc(max * sizeof(*table->position));
	table->order = port_zalloc(max * sizeof(*table->order));
	table->cost = port_zalloc((max + 1) * sizeof(*table->cost));
	table->upward = port_zalloc(words_of_bits(states) * sizeof(*table->upward));
	if (table->position && table->order && table->cost && table->upward)
		return 0;
	order_table_exit(table);
	return -ENOMEM;
}

void order_table_exit(struct order_table *table)
{
	port_free(table->position);
	port_free(table->order);
	port_free(table->cost);
	port_free(table->upward);
	*table = (struct order_table){ 0 };
}

/* Return the head's position when x points below and y points above are served. */
static u64 place(const struct problem *p, u32 x, u32 y, enum end end)
{
	if (end == LOWER)
		return x ? p->position[p->below - x] : p->head;
	return y ? p->position[p->below + y - 1] : p->head;
}

static u64 state_bit(const struct problem *p, u32 x, u32 y, enum end end)
{
	return ((u64)x * (p->above + 1) + y) * ENDS + end;
}

static bool goes_up(const struct problem *p, u32 x, u32 y, enum end end)
{
	u64 bit = state_bit(p, x, y, end);

	return p->upward[bit / 64] >> bit % 64 & 1;
}

/*
 * Choose the cheaper way on from one state, given the costs of its two successors.
 * Every request that still waits pays for each step.
 */
static u64 decide(struct problem *p, u32 x, u32 y, enum end end, u64 cost_if_down,
		  u64 cost_if_up)
{
	u64 here = place(p, x, y, end);
	u64 bit = state_bit(p, x, y, end);
	u64 waiting = p->n - x - y;
	u64 down = U64_MAX;
	u64 up = U64_MAX;

	if (!waiting)
		return 0;
	if (x < p->below)
		down = (here - p->position[p->below - x - 1]) * waiting + cost_if_down;
	if (y < p->above)
		up = (p->position[p->below + y] - here) * waiting + cost_if_up;
	if (up > down)
		return down;
	p->upward[bit / 64] |= 1ull << bit % 64;
	return up;
}

/* Fill in the table backwards, from the states with all points below served to those with none. */
static void fill(struct problem *p, u64 *cost)
{
	u32 x = p->below + 1;
	u32 y;

	memset(p->upward, 0,
	       words_of_bits(state_bit(p, p->below + 1, 0, LOWER)) *
		       sizeof(*p->upward));
	while (x--) {
		u64 cost_if_up = 0;

		y = p->above + 1;
		while (y--) {
			u64 cost_if_down = cost[y];

			cost[y] = decide(p, x, y, LOWER, cost_if_down, cost_if_up);
			cost_if_up = decide(p, x, y, UPPER, cost_if_down, cost_if_up);
		}
	}
}

/* Append the highest unserved point below, and all points at the same position. */
static u32 step_down(const struct problem *p, u32 x, u32 *order)
{
	u32 last = p->below - x - 1;
	u32 first = last;
	u32 i;

	while (first && p->position[first - 1] == p->position[last])
		first--;
	for (i = first; i <= last; i++)
		*order++ = i;
	return last - first + 1;
}

static void follow(const struct problem *p, u32 *order)
{
	enum end end = UPPER;
	u32 x = 0;
	u32 y = 0;

	while (x + y < p->n) {
		if (goes_up(p, x, y, end)) {
			order[x + y] = p->below + y;
			y++;
			end = UPPER;
		} else {
			x += step_down(p, x, order + x + y);
			end = LOWER;
		}
	}
}

void order_table_find(struct order_table *table, u32 n, u64 head)
{
	struct problem problem = {
		.position = table->position,
		.upward = table->upward,
		.head = head,
		.n = n,
	};

	while (problem.below < n && table->position[problem.below] < head)
		problem.below++;
	problem.above = n - problem.below;
	fill(&problem, table->cost);
	follow(&problem, table->order);
}
