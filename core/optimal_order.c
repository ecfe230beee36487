// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Before the head serves a point at distance d from the head's start, it travels d plus twice the
 * distance of every earlier turn. The term d is the same in every order. So the cost of an order is
 * the sum, over its turns, of the turn's distance times the number of points still pending at that
 * turn. (The constant factor two is left out.)
 *
 * Suppose that, at a turn, i points have been served on the turn's side and j points on the other
 * side, where the previous turn was. Then n - i - j points are pending. So the cost of a turn
 * depends only on that turn and the turn before it. The best order is a shortest path through turns
 * on alternate sides: from the head's start to a turn after which all points of one side are
 * served. After that, turns cost nothing. (A path may contain a turn inside an earlier turn, but
 * the path without that detour is shorter.)
 *
 * Let rest(i) be the lowest cost of all later turns after a turn with i points served on its side.
 * On each side, rest(i) does not grow with i, and the rest of a turn is at least the rest of the
 * following turn. Hence Dijkstra's algorithm, run from the end, settles the turns of a side from
 * the outermost inwards and has only two candidates at a time. A turn with j points served may be
 * followed by a turn on the other side with i points served, at distance d. As a function of j, the
 * cost is then a line:
 *
 *	rest(i) + d * (n - i - j)  =  (rest(i) + d * (n - i)) - d * j
 *
 * Lines are added in order of decreasing d and queried in order of decreasing j. The lowest line is
 * found in a queue that each line enters and leaves once, so the whole algorithm takes linear time.
 * A. Garcia, P. Jodra and J. Tejel showed that linear time is possible ("A note on the traveling
 * repairman problem", Networks 40, 2002).
 *
 * Of two orders with equal cost, the one that goes up first is chosen. Therefore, of two equal
 * turns, the outer one is chosen above the head and the inner one below it, and the lower side is
 * settled first. If several points are on the same sector, a turn is considered only after the last
 * of them. No number exceeds twice the number of points times the highest sector.
 */
#include "optimal_order.h"

/**
 * struct side - the points on one side of the head's start
 * @points: number of points
 * @settled: turns with at least this many points served are settled
 * @keeps_ties: 1: of two turns with the same cost the outer one is chosen; 0: the inner one
 * @first: queue of the turns that may follow a turn on the other side
 * @end: end of the queue
 * @rest: lowest cost of all later turns after the next turn to be settled
 */
struct side {
	u32 points;
	u32 settled;
	u32 keeps_ties;
	struct optimal_turn *first, *end;
	u64 rest;
};

struct problem {
	const u64 *position;
	u64 head;
	u32 n;
	struct side lower, upper;
};

int optimal_order_init(struct optimal_order *room, u32 max, u64 farthest)
{
	u64 largest;

	*room = (struct optimal_order){ 0 };
	if (__builtin_mul_overflow(2ull * max, farthest, &largest))
		return -EINVAL;
	room->position = port_zalloc(max * sizeof(*room->position));
	room->order = port_zalloc(max * sizeof(*room->order));
	room->turn = port_zalloc(max * sizeof(*room->turn));
	if (room->position && room->order && room->turn)
		return 0;
	optimal_order_exit(room);
	return -ENOMEM;
}

void optimal_order_exit(struct optimal_order *room)
{
	port_free(room->position);
	port_free(room->order);
	port_free(room->turn);
	*room = (struct optimal_order){ 0 };
}

/* Return the distance of the `points`-th nearest point; `points` is at least 1. */
static u64 distance(const struct problem *p, const struct side *side, u32 points)
{
	if (side == &p->lower)
		return p->head - p->position[side->points - points];
	return p->position[p->lower.points + points - 1] - p->head;
}

/*
 * Compare two turns on one side; the new turn is inside the old one and costs less. Return a limit:
 * the new turn is better as long as fewer points than this limit are served on the other side.
 */
static u64 limit(const struct optimal_turn *old, const struct optimal_turn *new,
		 u64 tie)
{
	return (old->cost - new->cost - tie) / (old->distance - new->distance) + 1;
}

/*
 * Add a turn to the queue. First remove the turns that are never the best once the new turn is in
 * the queue.
 */
static void enqueue(struct side *side, struct optimal_turn *turn)
{
	for (;;) {
		turn->limit = limit(side->end - 1, turn, side->keeps_ties);
		if (side->end - side->first == 1 || turn->limit < side->end[-1].limit)
			break;
		side->end--;
	}
	*side->end++ = *turn;
}

/* Find the best successor of the side's next turn. */
static void look(struct side *side, struct side *other)
{
	u32 served = side->settled - 1;

	while (other->end - other->first > 1 && served < other->first[1].limit)
		other->first++;
	side->rest = other->first->cost - other->first->distance * served;
}

/* Settle the outermost turn; only the other side's outermost turn can follow it. */
static void settle_last(const struct problem *p, struct side *side, struct side *other)
{
	side->settled = side->points;
	if (!side->points)
		return;
	side->end->served = side->points;
	side->end->distance = distance(p, side, side->points);
	side->end->cost = side->end->distance * other->points;
	side->end->next = other->first;
	side->end++;
}

/*
 * Settle the next turn inwards. The function is inlined once for each side, which saves a quarter
 * of the time.
 */
static inline void settle(const struct problem *p, struct side *side,
			  struct side *other)
{
	struct optimal_turn turn;

	side->settled--;
	if (!side->settled)
		return;
	turn.distance = distance(p, side, side->settled);
	turn.cost = side->rest + turn.distance * (p->n - side->settled);
	if (turn.cost + side->keeps_ties <= side->end[-1].cost) {
		turn.served = side->settled;
		turn.next = other->first;
		enqueue(side, &turn);
		look(other, side);
	}
	look(side, other);
}

/* Settle turns until the head's start is settled. Return the first turn after the start. */
static const struct optimal_turn *solve(struct problem *p)
{
	struct side *lower = &p->lower;
	struct side *upper = &p->upper;

	settle_last(p, lower, upper);
	settle_last(p, upper, lower);
	if (lower->settled && upper->settled) {
		look(lower, upper);
		look(upper, lower);
	}
	while (lower->settled && upper->settled) {
		if (lower->rest <= upper->rest)
			settle(p, lower, upper);
		else
			settle(p, upper, lower);
	}
	return lower->settled ? lower->first : upper->first;
}

/*
 * Append points in descending order, but leave points on the same sector in the order in which they
 * were given.
 */
static u32 *append_below(const struct problem *p, u32 from, u32 to, u32 *order)
{
	u32 end = p->lower.points - from;
	u32 i;

	while (end > p->lower.points - to) {
		u32 first = end - 1;

		while (first && p->position[first - 1] == p->position[first])
			first--;
		for (i = first; i < end; i++)
			*order++ = i;
		end = first;
	}
	return order;
}

static void follow(const struct problem *p, const struct optimal_turn *turn, u32 *order)
{
	const u32 *end = order + p->n;
	bool upwards = !p->lower.settled;
	u32 below = 0;
	u32 above = 0;

	for (; order < end; upwards = !upwards) {
		if (upwards) {
			while (above < turn->served)
				*order++ = p->lower.points + above++;
		} else {
			order = append_below(p, below, turn->served, order);
			below = turn->served;
		}
		turn = turn->next;
	}
}

static u32 points_below(const u64 *position, u32 n, u64 head)
{
	u32 i = 0;

	while (i < n && position[i] < head)
		i++;
	return i;
}

void optimal_order_find(struct optimal_order *room, u32 n, u64 head)
{
	u32 below = points_below(room->position, n, head);
	struct problem problem = {
		.position = room->position,
		.head = head,
		.n = n,
		.lower = {
			.points = below,
			.first = room->turn,
			.end = room->turn,
		},
		.upper = {
			.points = n - below,
			.keeps_ties = 1,
			.first = room->turn + below,
			.end = room->turn + below,
		},
	};
	const struct optimal_turn *first = solve(&problem);

	follow(&problem, first, room->order);
}
