/* SPDX-License-Identifier: MIT */
/*
 * A host that a test drives step by step, with short helpers for tests of single rules.
 */
#ifndef UNDERSTUDY_TEST_BY_HAND_H
#define UNDERSTUDY_TEST_BY_HAND_H

#include "host.h"

static struct host host;

/* Read or write a page; writes have no owner of their own. */
static inline struct io_request *read_of(u32 owner, u64 sector)
{
	return host_add(&host, IO_READ, sector, 8, owner);
}

static inline struct io_request *write_at(u64 sector)
{
	return host_add(&host, IO_WRITE, sector, 8, 99);
}

static inline u64 counter(const char *name)
{
	return host_counter(&host, name);
}

/* Expect the scheduler to choose this request, which stays in service. */
static inline struct io_request *expect_next(struct io_request *rq)
{
	CHECK(host_ask(&host) == rq);
	return rq;
}

/* Expect the scheduler to choose nothing and to wait for ns. */
static inline void expect_wait(u64 ns)
{
	CHECK(!host_ask(&host));
	CHECK_EQ(host.wake_ns, host.now_ns + ns);
}

/* Put most requests close together, where an elevator could stay forever. */
static inline void set_place(struct host *h, struct draw *draw, struct io_request *rq)
{
	if (draw_below(draw, 10))
		rq->sector = 600000 + draw_below(draw, 1000);
}

#endif
