/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The table: Geist and Ross's statically optimal order of service (PERFORM 2010
 * sections 2.2 and 3), the one that minimises the sum of response times if nobody else
 * arrives.
 *
 * Each request counts as a point at its first sector, and service as affine in
 * distance.  The constant part then adds the same to every order, so only travel
 * is weighed.  On a line the requests already served are always an interval
 * around where the head began, and the head is at one end of it: a state is (how
 * many below are served, how many above, which end), n^2 of them at most.
 * Dynamic programming finds the cheapest way from each.  On a disk whose seek
 * curve is not a line the order is a heuristic.
 *
 * Ties go up, to the higher sector.  Points at the head are served at once, and
 * points in the same place in the order in which they were given.
 */
#ifndef UNDERSTUDY_OPTIMAL_ORDER_H
#define UNDERSTUDY_OPTIMAL_ORDER_H

#include "port.h"

/**
 * struct optimal_order - room for one table
 * @max: most points
 * @position: the caller's points, ascending, each below 2^48
 * @order: the result, indices into @position
 * @cost: cheapest way on from each state with the head at the lower end
 * @upward: one bit a state: the cheapest way on goes up
 */
struct optimal_order {
	u32 max;
	u64 *position;
	u32 *order;
	u64 *cost;
	u64 *upward;
};

/* 0 or -ENOMEM.  About n^2 / 16 + 20 n bytes; max is at most 4096. */
int optimal_order_init(struct optimal_order *table, u32 max);

/* Also fit for a table whose init failed, or that is zeroed. */
void optimal_order_exit(struct optimal_order *table);

/* Fill in the order of the first n positions, for a head that starts at head. */
void optimal_order_find(struct optimal_order *table, u32 n, u64 head);

#endif
