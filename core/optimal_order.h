/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Geist and Ross's statically optimal order of service (PERFORM 2010 sections 2.2 and
 * 3): the one that minimises the sum of response times if nobody else arrives.
 *
 * Each request counts as a point at its first sector, and service as affine in
 * distance.  The constant part then adds the same to every order, so only travel
 * is weighed.  On a disk whose seek curve is not a line the order is a heuristic.
 *
 * Ties go up, to the higher sector.  Points at the head are served at once, and
 * points in the same place in the order in which they were given.
 *
 * The papers fill a table of n^2 states; this takes time and memory linear in n.
 */
#ifndef UNDERSTUDY_OPTIMAL_ORDER_H
#define UNDERSTUDY_OPTIMAL_ORDER_H

#include "port.h"

/**
 * struct optimal_turn - a turn that the head may make, seen from the other side
 * @cost: of what is to come, if nothing were served on the other side
 * @distance: from where the head began; each point served there saves as much
 * @limit: better than the turn queued before it while fewer are served there
 * @served: points served on its own side
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
 * struct optimal_order - room to find one order
 * @position: the caller's points, ascending
 * @order: the result, indices into @position
 * @turn: turns that may be made, those below the head first
 */
struct optimal_order {
	u64 *position;
	u32 *order;
	struct optimal_turn *turn;
};

/**
 * optimal_order_init - make room
 * @room: to be made
 * @max: most points
 * @farthest: no point and no head is beyond it
 *
 * Returns: 0; -ENOMEM; or -EINVAL if so many points so far apart can't be weighed in 64
 * bits: 2 * max * farthest has to be less than 2^64.
 */
int optimal_order_init(struct optimal_order *room, u32 max, u64 farthest);

/* Also fit for one whose init failed, or that is zeroed. */
void optimal_order_exit(struct optimal_order *room);

/* Fill in the order of the first n positions, for a head that starts at head. */
void optimal_order_find(struct optimal_order *room, u32 n, u64 head);

#endif
