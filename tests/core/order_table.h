/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The papers' algorithm for the optimal order, to test and benchmark
 * core/optimal_order.h against: the table of Geist and Ross (PERFORM 2010 sections 2.2
 * and 3).
 *
 * On a line, the served requests always form an interval around the head's start, with
 * the head at one end of it.  A state is (served below, served above, which end), so
 * there are at most n^2 states.  Dynamic programming finds the cheapest way on from
 * each state.
 */
#ifndef UNDERSTUDY_ORDER_TABLE_H
#define UNDERSTUDY_ORDER_TABLE_H

#include "../../core/port.h"

/**
 * struct order_table - working memory for one table
 * @max: most points
 * @position: the points, set by the caller, ascending, each below 2^48
 * @order: the result: indices into @position
 * @cost: cost of the cheapest way on from each state with the head at the lower end
 * @upward: one bit for each state: set if the cheapest way on goes up
 */
struct order_table {
	u32 max;
	u64 *position;
	u32 *order;
	u64 *cost;
	u64 *upward;
};

/*
 * Return 0 or -ENOMEM.  The table takes about n^2 / 16 + 20 n bytes; max
 * is at most 4096.
 */
int order_table_init(struct order_table *table, u32 max);

/* Accepts a table whose init failed, or a zeroed table. */
void order_table_exit(struct order_table *table);

/*
 * Set table->order to the optimal order of the first n positions, for a head that
 * starts at head.
 */
void order_table_find(struct order_table *table, u32 n, u64 head);

#endif
