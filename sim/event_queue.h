/* SPDX-License-Identifier: MIT */
/*
 * A queue of future events, soonest first. Events at the same time are ordered by priority, then by
 * id, so that no result depends on how the queue is built.
 */
#ifndef UNDERSTUDY_EVENT_QUEUE_H
#define UNDERSTUDY_EVENT_QUEUE_H

#include "../core/port.h"

/**
 * struct event - one future event
 * @time_ns: time of the event
 * @priority: events at the same time are handled in ascending order of priority
 * @id: number of the request or process concerned; among events of equal time and priority, the
 *	smallest id is handled first
 */
struct event {
	u64 time_ns;
	u32 priority;
	u32 id;
};

struct event_queue {
	struct event *heap;
	u32 count;
	u32 capacity;
};

/* Returns 0 or -ENOMEM. */
int event_queue_init(struct event_queue *queue, u32 capacity);

/* May be called even if init failed or the queue is zeroed. */
void event_queue_exit(struct event_queue *queue);

/* Add an event; the queue grows if necessary. Returns 0 or -ENOMEM. */
int event_queue_add(struct event_queue *queue, struct event event);

/* Return the soonest event without removing it; the queue must not be empty. */
static inline const struct event *event_queue_first(const struct event_queue *queue)
{
	return queue->heap;
}

/* Remove and return the soonest event; the queue must not be empty. */
struct event event_queue_take(struct event_queue *queue);

#endif
