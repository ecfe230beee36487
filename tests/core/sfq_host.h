/* SPDX-License-Identifier: MIT */
/* A host with sfq, whose requests carry their cost. */
#ifndef UNDERSTUDY_TEST_SFQ_HOST_H
#define UNDERSTUDY_TEST_SFQ_HOST_H

#include "host.h"

static struct host host;

/* Add a request with a known cost in ns and a weight. */
static inline struct io_request *costing(u32 owner, u64 cost_ns, u32 weight)
{
	struct io_request *rq = host_new(&host, IO_READ, 1000, 8, owner);

	rq->cost_ns = cost_ns;
	rq->weight = weight;
	host_put_back(&host, rq);
	return rq;
}

static inline void begin(u64 depth)
{
	host_init(&host, "sfq");
	host_set(&host, "depth", depth);
}

#endif
