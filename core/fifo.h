/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Pending requests in order of arrival: a doubly linked list whose links are in the requests
 * themselves. A request that is added again after a merge is inserted in order of its id, not at
 * the end.
 */
#ifndef UNDERSTUDY_FIFO_H
#define UNDERSTUDY_FIFO_H

#include "request.h"

struct fifo {
	struct io_request *oldest, *newest;
};

static inline void fifo_add(struct fifo *fifo, struct io_request *rq)
{
	struct io_request *before = fifo->newest;

	while (before && before->id > rq->id)
		before = before->fifo_prev;
	rq->fifo_prev = before;
	rq->fifo_next = before ? before->fifo_next : fifo->oldest;
	if (rq->fifo_prev)
		rq->fifo_prev->fifo_next = rq;
	else
		fifo->oldest = rq;
	if (rq->fifo_next)
		rq->fifo_next->fifo_prev = rq;
	else
		fifo->newest = rq;
}

static inline void fifo_remove(struct fifo *fifo, struct io_request *rq)
{
	if (rq->fifo_prev)
		rq->fifo_prev->fifo_next = rq->fifo_next;
	else
		fifo->oldest = rq->fifo_next;
	if (rq->fifo_next)
		rq->fifo_next->fifo_prev = rq->fifo_prev;
	else
		fifo->newest = rq->fifo_prev;
}

#endif
