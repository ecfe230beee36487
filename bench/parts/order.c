// SPDX-License-Identifier: MIT
/*
 * order WAY POINTS CALLS: finds the optimal order of random points CALLS times, and prints the CPU
 * time per call in ns.  WAY is "turns" for the method in core/, or "table" for the papers' method.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/draw.h"
#include "../../core/optimal_order.h"
#include "../../tests/core/order_table.h"

#define CAPACITY 143374744ull /* sectors of the papers' disk */
#define HEADS 20

static struct optimal_order turns;
static struct order_table table;

static int compare(const void *left, const void *right)
{
	const u64 *a = left;
	const u64 *b = right;

	return (*a > *b) - (*a < *b);
}

/* A separate function, so that its instructions can be counted. */
static __attribute__((noipa)) void find_once(bool by_turns, u32 points, u64 head)
{
	if (by_turns)
		optimal_order_find(&turns, points, head);
	else
		order_table_find(&table, points, head);
}

static clock_t find_for_one_set(bool by_turns, u32 points, struct draw *draw)
{
	u64 *position = by_turns ? turns.position : table.position;
	clock_t began;
	u32 i;

	for (i = 0; i < points; i++)
		position[i] = draw_below(draw, CAPACITY);
	qsort(position, points, sizeof(*position), compare);
	began = clock();
	for (i = 0; i < HEADS; i++)
		find_once(by_turns, points, draw_below(draw, CAPACITY));
	return clock() - began;
}

int main(int argc, char **argv)
{
	bool by_turns = argc == 4 && !strcmp(argv[1], "turns");
	u32 points = argc == 4 ? atoi(argv[2]) : 0;
	u32 sets = argc == 4 ? atoi(argv[3]) : 0;
	struct draw draw;
	clock_t spent = 0;
	u32 i;

	if (!points || !sets || optimal_order_init(&turns, points, CAPACITY) ||
	    order_table_init(&table, points))
		return 2;
	draw_seed(&draw, 1, 0);
	for (i = 0; i < sets; i++)
		spent += find_for_one_set(by_turns, points, &draw);
	printf("%.0f\n", 1e9 / CLOCKS_PER_SEC * spent / sets / HEADS);
	return 0;
}
