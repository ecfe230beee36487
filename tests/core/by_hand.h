/* SPDX-License-Identifier: MIT */
/* One host that is driven by hand: what the tests of single rules say in a word. */
#ifndef UNDERSTUDY_TEST_BY_HAND_H
#define UNDERSTUDY_TEST_BY_HAND_H

#include "host.h"

static struct host host;

/* Reads and writes of a page; writes are everybody's. */
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

/* It chooses this one, which stays in service. */
static inline struct io_request *expect_next(struct io_request *rq)
{
	CHECK(host_ask(&host) == rq);
	return rq;
}

/* The scheduler wants to be asked again after so long. */
static inline void expect_wait(u64 ns)
{
	CHECK(!host_ask(&host));
	CHECK_EQ(host.wake_ns, host.now_ns + ns);
}

/* Most of them at one place, where an elevator could stay for ever. */
static inline void set_place(struct host *h, struct draw *draw, struct io_request *rq)
{
	if (draw_below(draw, 10))
		rq->sector = 600000 + draw_below(draw, 1000);
}

#endif
