/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The common state of arm-based schedulers: the pending requests by sector, the sector of the head,
 * the direction of the arm, and its total travel. Reads and writes are treated alike.
 *
 * A struct sweep is the first member of a scheduler's state, so the functions below that take a
 * state can directly be operations of struct scheduler.
 */
#ifndef UNDERSTUDY_SWEEP_H
#define UNDERSTUDY_SWEEP_H

#include "scheduler.h"
#include "sorted_queue.h"

/**
 * struct sweep - an arm, and its pending requests
 * @turns: changes of direction
 * @travel_sectors: sum of the distances from the end of each request to the next request
 * @pending: the requests
 * @capacity_sectors: the upper edge of the disk, at least 1; the lower edge is 0
 * @head: end of the last request that was served
 * @down: direction; an arm starts at sector 0 and goes up
 */
struct sweep {
	u64 turns;
	u64 travel_sectors;

	struct sorted_queue pending;
	u64 capacity_sectors;
	u64 head;
	bool down;
};

#define SWEEP_TURNS SCHED_COUNTER(sweep, turns, "changes of direction")
#define SWEEP_TRAVEL                         \
	SCHED_COUNTER(sweep, travel_sectors, \
		      "distance of the head between requests, sectors")

/* Operations of struct scheduler. */
int sweep_init(void *state, const struct sched_limits *limits);
void sweep_exit(void *state);
void sweep_grown(void *state, u64 capacity_sectors);
void sweep_add(void *state, struct io_request *rq, u64 now_ns);
void sweep_remove(void *state, struct io_request *rq);
bool sweep_has_work(const void *state);

/*
 * Return the nearest request in the arm's direction from this sector, or a request that begins at
 * this sector. NULL if there is none.
 */
struct io_request *sweep_ahead(const struct sweep *sweep, u64 sector);

/*
 * Return the request nearest to the head. A request that makes the arm turn counts as turn_sectors
 * farther away. Of two requests at the same distance, return the upper one. NULL if there is no
 * request.
 */
struct io_request *sweep_nearest(const struct sweep *sweep, u64 turn_sectors);

void sweep_turn(struct sweep *sweep);

/* Remove the request and move the head to the request's end; the caller sets the direction. */
struct io_request *sweep_serve(struct sweep *sweep, struct io_request *rq);

/* Like sweep_serve(), but set the direction to that of the movement. */
struct io_request *sweep_turn_and_serve(struct sweep *sweep, struct io_request *rq);

static inline u64 sweep_distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

#endif
