// SPDX-License-Identifier: MIT
/* A binary heap. */
#include "event_queue.h"

int event_queue_init(struct event_queue *queue, u32 capacity)
{
	queue->heap = port_zalloc(capacity * sizeof(*queue->heap));
	queue->count = 0;
	queue->capacity = capacity;
	return queue->heap ? 0 : -ENOMEM;
}

void event_queue_exit(struct event_queue *queue)
{
	port_free(queue->heap);
	queue->heap = NULL;
}

static u64 rank(const struct event *event)
{
	return (u64)event->priority << 32 | event->id;
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->time_ns < b->time_ns ||
	       (a->time_ns == b->time_ns && rank(a) < rank(b));
}

static int grow(struct event_queue *queue)
{
	struct event_queue larger;

	if (event_queue_init(&larger, queue->capacity * 2 + 1))
		return -ENOMEM;
	memcpy(larger.heap, queue->heap, queue->count * sizeof(*queue->heap));
	larger.count = queue->count;
	event_queue_exit(queue);
	*queue = larger;
	return 0;
}

int event_queue_add(struct event_queue *queue, struct event event)
{
	u32 i = queue->count;

	if (queue->count == queue->capacity && grow(queue))
		return -ENOMEM;
	queue->count++;
	while (i && is_before(&event, &queue->heap[(i - 1) / 2])) {
		queue->heap[i] = queue->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	queue->heap[i] = event;
	return 0;
}

struct event event_queue_take(struct event_queue *queue)
{
	struct event first = queue->heap[0];
	struct event last = queue->heap[--queue->count];
	u32 i = 0;
	u32 child;

	while ((child = 2 * i + 1) < queue->count) {
		if (child + 1 < queue->count &&
		    is_before(&queue->heap[child + 1], &queue->heap[child]))
			child++;
		if (!is_before(&queue->heap[child], &last))
			break;
		queue->heap[i] = queue->heap[child];
		i = child;
	}
	queue->heap[i] = last;
	return first;
}
