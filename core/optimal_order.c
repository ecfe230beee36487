// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A point at distance d from where the head began is served after d, plus twice the
 * distance of every turn that the head makes before.  The first part is the same in
 * every order.  What an order costs is therefore the sum, over its turns, of the
 * turn's distance times the points that still wait (times two, left out here).
 *
 * After a turn with i points served on its side, which follows one with j served on
 * the other, n - i - j wait.  So what a turn costs depends on itself and the one
 * before, and the best order is a shortest path through turns on alternate sides,
 * from the head's own place to a turn with a whole side served: from there on turning
 * costs nothing.  (Nothing keeps a path from turning inside an earlier turn, but
 * without that detour it is shorter.)
 *
 * Let rest(i) be the cheapest way on from a turn with i served.  On each side it does
 * not grow with i, and no turn has less rest than the one that follows it.  Hence
 * Dijkstra's algorithm, from the end, settles the turns of a side from the outermost
 * inwards and has only two to choose from.  To a turn with j served, one on the other
 * side with i served, at distance d, leads at a price that is a line in j:
 *
 *	rest(i) + d * (n - i - j)  =  (rest(i) + d * (n - i)) - d * j
 *
 * Lines come with falling d and are asked for with falling j: the lowest one is found
 * in a queue that each line enters and leaves once, and all takes linear time.  That
 * it can be done in linear time is known from A. Garcia, P. Jodra and J. Tejel, "A note
 * on the traveling repairman problem", Networks 40 (2002).
 *
 * Ties go up: of turns above the outer one is taken, of turns below the inner one,
 * and the lower side is settled first.  Of points in the same place only the last is
 * worth a turn.  No number exceeds twice the points times the farthest place.
 */
#include "optimal_order.h"

/**
 * struct side - the points on one side of where the head began
 * @points: how many
 * @settled: turns with at least so many points served are settled
 * @keeps_ties: of two turns that cost the same the outer one is taken: 0 or 1
 * @first: queue of the turns that may follow one on the other side
 * @end: end of the queue
 * @rest: the cheapest way on from the next turn to be settled
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

/* How far away the outermost of so many points is, 1 at least. */
static u64 distance(const struct problem *p, const struct side *side, u32 points)
{
	if (side == &p->lower)
		return p->head - p->position[side->points - points];
	return p->position[p->lower.points + points - 1] - p->head;
}

/*
 * Two turns of one side: the new one, inside the old one and cheaper, is better while
 * fewer are served on the other side.
 */
static u64 limit(const struct optimal_turn *old, const struct optimal_turn *new,
		 u64 tie)
{
	return (old->cost - new->cost - tie) / (old->distance - new->distance) + 1;
}

/* Turns that the new one leaves nowhere the best leave the queue. */
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

/* Find the cheapest way on from the side's next turn. */
static void look(struct side *side, struct side *other)
{
	u32 served = side->settled - 1;

	while (other->end - other->first > 1 && served < other->first[1].limit)
		other->first++;
	side->rest = other->first->cost - other->first->distance * served;
}

/* The outermost turn; the other side's must follow it. */
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

/* The next turn inwards.  Inline, once for each side: a quarter less to do. */
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

/* Until the head's own place is one of the turns.  Returns what follows it. */
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

/* Downwards, but points in the same place in the order in which they were given. */
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
