// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "arm.h"

int arm_init(void *state, const struct sched_limits *limits)
{
	struct arm *arm = state;

	arm->capacity_sectors = limits->capacity_sectors ?: 1;
	return sorted_queue_init(&arm->pending, limits->max_requests);
}

void arm_exit(void *state)
{
	struct arm *arm = state;

	sorted_queue_exit(&arm->pending);
}

void arm_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct arm *arm = state;

	sorted_queue_add(&arm->pending, rq);
}

void arm_remove(void *state, struct io_request *rq)
{
	struct arm *arm = state;

	sorted_queue_remove(&arm->pending, rq);
}

void arm_grown(void *state, u64 capacity_sectors)
{
	struct arm *arm = state;

	arm->capacity_sectors = capacity_sectors;
}

bool arm_has_work(const void *state)
{
	const struct arm *arm = state;

	return arm->pending.count;
}

struct io_request *arm_ahead(const struct arm *arm, u64 sector)
{
	return arm->down ? sorted_queue_below(&arm->pending, sector)
			 : sorted_queue_above(&arm->pending, sector);
}

static bool is_behind(const struct arm *arm, const struct io_request *rq)
{
	return arm->down ? rq->sector > arm->head : rq->sector < arm->head;
}

static u64 effective_distance(const struct arm *arm, const struct io_request *rq,
			      u64 turn_sectors)
{
	return arm_distance(arm->head, rq->sector) +
	       (is_behind(arm, rq) ? turn_sectors : 0);
}

struct io_request *arm_nearest(const struct arm *arm, u64 turn_sectors)
{
	struct io_request *above = sorted_queue_above(&arm->pending, arm->head);
	struct io_request *below = sorted_queue_below(&arm->pending, arm->head);

	if (!above || !below)
		return above ?: below;
	return effective_distance(arm, below, turn_sectors) <
			       effective_distance(arm, above, turn_sectors)
		       ? below
		       : above;
}

void arm_turn(struct arm *arm)
{
	arm->down = !arm->down;
	arm->turns++;
}

struct io_request *arm_serve(struct arm *arm, struct io_request *rq)
{
	sorted_queue_remove(&arm->pending, rq);
	arm->travel_sectors += arm_distance(arm->head, rq->sector);
	arm->head = request_end(rq);
	rq->reason = PICK_ORDER;
	return rq;
}

struct io_request *arm_turn_and_serve(struct arm *arm, struct io_request *rq)
{
	if (is_behind(arm, rq))
		arm_turn(arm);
	return arm_serve(arm, rq);
}
