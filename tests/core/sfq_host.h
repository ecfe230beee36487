/* SPDX-License-Identifier: MIT */
/* A host with sfq in it, whose requests bring what they cost. */
#ifndef UNDERSTUDY_TEST_SFQ_HOST_H
#define UNDERSTUDY_TEST_SFQ_HOST_H

#include "host.h"

static struct host host;

/* A request whose cost is known, ns, with its share; it is added. */
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
