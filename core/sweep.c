// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "sweep.h"

int sweep_init(void *state, const struct sched_limits *limits)
{
	struct sweep *sweep = state;

	sweep->capacity_sectors = limits->capacity_sectors ?: 1;
	return sorted_queue_init(&sweep->pending, limits->max_requests);
}

void sweep_exit(void *state)
{
	struct sweep *sweep = state;

	sorted_queue_exit(&sweep->pending);
}

void sweep_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct sweep *sweep = state;

	sorted_queue_add(&sweep->pending, rq);
}

void sweep_remove(void *state, struct io_request *rq)
{
	struct sweep *sweep = state;

	sorted_queue_remove(&sweep->pending, rq);
}

void sweep_grown(void *state, u64 capacity_sectors)
{
	struct sweep *sweep = state;

	sweep->capacity_sectors = capacity_sectors;
}

bool sweep_has_work(const void *state)
{
	const struct sweep *sweep = state;

	return sweep->pending.count;
}

struct io_request *sweep_ahead(const struct sweep *sweep, u64 sector)
{
	return sweep->down ? sorted_queue_below(&sweep->pending, sector)
			   : sorted_queue_above(&sweep->pending, sector);
}

static bool is_behind(const struct sweep *sweep, const struct io_request *rq)
{
	return sweep->down ? rq->sector > sweep->head : rq->sector < sweep->head;
}

static u64 effective_distance(const struct sweep *sweep, const struct io_request *rq,
			      u64 turn_sectors)
{
	return sweep_distance(sweep->head, rq->sector) +
	       (is_behind(sweep, rq) ? turn_sectors : 0);
}

struct io_request *sweep_nearest(const struct sweep *sweep, u64 turn_sectors)
{
	struct io_request *above = sorted_queue_above(&sweep->pending, sweep->head);
	struct io_request *below = sorted_queue_below(&sweep->pending, sweep->head);

	if (!above || !below)
		return above ?: below;
	return effective_distance(sweep, below, turn_sectors) <
			       effective_distance(sweep, above, turn_sectors)
		       ? below
		       : above;
}

void sweep_turn(struct sweep *sweep)
{
	sweep->down = !sweep->down;
	sweep->turns++;
}

struct io_request *sweep_serve(struct sweep *sweep, struct io_request *rq)
{
	sorted_queue_remove(&sweep->pending, rq);
	sweep->travel_sectors += sweep_distance(sweep->head, rq->sector);
	sweep->head = request_end(rq);
	rq->reason = PICK_ORDER;
	return rq;
}

struct io_request *sweep_turn_and_serve(struct sweep *sweep, struct io_request *rq)
{
	if (is_behind(sweep, rq))
		sweep_turn(sweep);
	return sweep_serve(sweep, rq);
}
