/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Geist and Ross's statically optimal order of service (PERFORM 2010 sections 2.2 and 3): the order
 * that minimises the sum of response times if no other request arrives.
 *
 * Each request counts as a point at its first sector, and its service time as a constant plus a
 * multiple of the distance. The constant adds the same sum to every order, so only distances
 * matter. On a disk whose seek curve is not a line, the order is a heuristic.
 *
 * Of two orders with equal sums, the one that first goes up, to the higher sector, is chosen.
 * Points at the head are served at once. Points on the same sector are served in the order in which
 * they were given.
 *
 * The papers fill a table of n^2 states; this algorithm needs time and memory linear in n.
 */
#ifndef UNDERSTUDY_OPTIMAL_ORDER_H
#define UNDERSTUDY_OPTIMAL_ORDER_H

#include "port.h"

/**
 * struct optimal_turn - a possible turn of the head, which may follow turns on the other side
 * @cost: cost of this turn and all later turns, if no point were served on the other side
 * @distance: distance from the head's start; each point served on the other side lowers the cost by
 *	this distance
 * @limit: this turn is better than the previous one in the queue as long as fewer points than this
 *	are served on the other side
 * @served: points served on the turn's own side
 * @next: the turn that follows
 */
struct optimal_turn {
	u64 cost;
	u64 distance;
	u64 limit;
	u32 served;
	const struct optimal_turn *next;
};

/**
 * struct optimal_order - memory for computing an order
 * @position: the sectors of the caller's points, ascending
 * @order: the result, indices into @position
 * @turn: possible turns, those below the head first
 */
struct optimal_order {
	u64 *position;
	u32 *order;
	struct optimal_turn *turn;
};

/**
 * optimal_order_init - allocate the memory
 * @room: the memory to set up
 * @max: largest number of points
 * @farthest: the highest sector of a point or of the head
 *
 * Returns: 0; -ENOMEM; or -EINVAL if the costs might exceed 64 bits: 2 * max * farthest must be
 * less than 2^64.
 */
int optimal_order_init(struct optimal_order *room, u32 max, u64 farthest);

/* May be called even if optimal_order_init() failed or the struct is zeroed. */
void optimal_order_exit(struct optimal_order *room);

/* Compute the order of the first n positions, for a head that starts at the sector `head`. */
void optimal_order_find(struct optimal_order *room, u32 n, u64 head);

#endif
