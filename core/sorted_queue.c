// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "sorted_queue.h"

int sorted_queue_init(struct sorted_queue *queue, u32 capacity)
{
	queue->slot = port_zalloc(capacity * sizeof(*queue->slot));
	queue->count = 0;
	queue->capacity = capacity;
	return queue->slot ? 0 : -ENOMEM;
}

void sorted_queue_exit(struct sorted_queue *queue)
{
	port_free(queue->slot);
	queue->slot = NULL;
}

/* Return the index of the first request at or after (sector, id). */
static u32 place(const struct sorted_queue *queue, u64 sector, u64 id)
{
	u32 low = 0;
	u32 high = queue->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		const struct io_request *rq = queue->slot[middle];

		if (rq->sector < sector || (rq->sector == sector && rq->id < id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sorted_queue_add(struct sorted_queue *queue, struct io_request *rq)
{
	u32 i = place(queue, rq->sector, rq->id);
	struct io_request **slot = queue->slot + i;

	memmove(slot + 1, slot, (queue->count - i) * sizeof(*slot));
	*slot = rq;
	queue->count++;
}

void sorted_queue_remove(struct sorted_queue *queue, const struct io_request *rq)
{
	u32 i = place(queue, rq->sector, rq->id);
	struct io_request **slot = queue->slot + i;

	queue->count--;
	memmove(slot, slot + 1, (queue->count - i) * sizeof(*slot));
}

u32 sorted_queue_from(const struct sorted_queue *queue, u64 sector)
{
	return place(queue, sector, 0);
}

struct io_request *sorted_queue_above(const struct sorted_queue *queue, u64 sector)
{
	u32 i = sorted_queue_from(queue, sector);

	return i < queue->count ? queue->slot[i] : NULL;
}

struct io_request *sorted_queue_below(const struct sorted_queue *queue, u64 sector)
{
	u32 end = place(queue, sector, U64_MAX);

	return end ? sorted_queue_above(queue, queue->slot[end - 1]->sector) : NULL;
}

struct io_request *sorted_queue_after(const struct sorted_queue *queue,
				      const struct io_request *rq)
{
	u32 i = place(queue, rq->sector, rq->id) + 1;

	return i < queue->count ? queue->slot[i] : NULL;
}

struct io_request *sorted_queue_sweep(const struct sorted_queue *queue, u64 sector)
{
	return sorted_queue_above(queue, sector) ?: sorted_queue_above(queue, 0);
}
