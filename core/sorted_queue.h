/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Pending requests in order of their first sector; requests for the same sector are in order of
 * their ids. The queue is an array of pointers: a request is found by bisection, and neighbours are
 * adjacent. Adding or removing a request moves all pointers after it.
 *
 * A request must not change its sector while it is in the queue.
 */
#ifndef UNDERSTUDY_SORTED_QUEUE_H
#define UNDERSTUDY_SORTED_QUEUE_H

#include "request.h"

/**
 * struct sorted_queue - a queue
 * @slot: the requests, ascending
 * @count: number of requests
 * @capacity: largest number of requests; the caller must not add more
 */
struct sorted_queue {
	struct io_request **slot;
	u32 count;
	u32 capacity;
};

/* Returns 0 or -ENOMEM. */
int sorted_queue_init(struct sorted_queue *queue, u32 capacity);

/* May be called even if sorted_queue_init() failed or the queue is zeroed. */
void sorted_queue_exit(struct sorted_queue *queue);

void sorted_queue_add(struct sorted_queue *queue, struct io_request *rq);

/* Remove a request, which must be in the queue. */
void sorted_queue_remove(struct sorted_queue *queue, const struct io_request *rq);

/*
 * Return the index of the first request at or after the sector, or the number of requests if there
 * is none.
 */
u32 sorted_queue_from(const struct sorted_queue *queue, u64 sector);

/*
 * Return the nearest request at or above the sector, or NULL; of several for one sector, the
 * oldest.
 */
struct io_request *sorted_queue_above(const struct sorted_queue *queue, u64 sector);

/*
 * Return the nearest request at or below the sector, or NULL; of several for one sector, the
 * oldest.
 */
struct io_request *sorted_queue_below(const struct sorted_queue *queue, u64 sector);

/* Return the request after `rq` in the queue, or NULL; `rq` must be in the queue. */
struct io_request *sorted_queue_after(const struct sorted_queue *queue,
				      const struct io_request *rq);

/*
 * Return the next request of an ascending sweep: the first at or after the sector, or else the
 * lowest; NULL if the queue is empty.
 */
struct io_request *sorted_queue_sweep(const struct sorted_queue *queue, u64 sector);

#endif
