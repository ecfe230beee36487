/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The papers' way to the optimal order (core/optimal_order.h), to test ours and to
 * measure it against: Geist and Ross's table (PERFORM 2010 sections 2.2 and 3).
 *
 * On a line the requests already served are always an interval around where the head
 * began, and the head is at one end of it: a state is (how many below are served, how
 * many above, which end), n^2 of them at most.  Dynamic programming finds the cheapest
 * way from each.
 */
#ifndef UNDERSTUDY_ORDER_TABLE_H
#define UNDERSTUDY_ORDER_TABLE_H

#include "../../core/port.h"

/**
 * struct order_table - room for one table
 * @max: most points
 * @position: the caller's points, ascending, each below 2^48
 * @order: the result, indices into @position
 * @cost: cheapest way on from each state with the head at the lower end
 * @upward: one bit a state: the cheapest way on goes up
 */
struct order_table {
	u32 max;
	u64 *position;
	u32 *order;
	u64 *cost;
	u64 *upward;
};

/* 0 or -ENOMEM.  About n^2 / 16 + 20 n bytes; max is at most 4096. */
int order_table_init(struct order_table *table, u32 max);

/* Also fit for a table whose init failed, or that is zeroed. */
void order_table_exit(struct order_table *table);

/* Fill in the order of the first n positions, for a head that starts at head. */
void order_table_find(struct order_table *table, u32 n, u64 head);

#endif
