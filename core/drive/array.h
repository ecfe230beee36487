/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An array: equal servers that take one request each, in the order in which requests come (ICPE
 * 2011 section 4.1).  Its service times do not depend on the request.  A request that comes while
 * all servers are busy begins when the first of them is free, so what it meets is known at once.
 */
#ifndef UNDERSTUDY_ARRAY_H
#define UNDERSTUDY_ARRAY_H

#include "../draw.h"

/**
 * struct array - what an array is like
 * @servers: how many
 * @mean_service_ns: below 2^56
 * @exponential: that is the mean of a distribution, else the time of every request
 */
struct array {
	u64 servers;
	u64 mean_service_ns;
	u64 exponential;
};

/* The draws of the service times from their beginning. */
void array_seed(struct draw *draw, u64 seed);

/* Service time of the next request, ns. */
u64 array_service_ns(const struct array *array, struct draw *draw);

/* No request takes longer to serve, ns. */
u64 array_slowest_ns(const struct array *array);

/**
 * struct servers - until when each server is busy
 * @nr: how many
 * @free_ns: when each is free, the first of all in front: a heap, in memory of the host's; NULL
 *	where there are never more requests than servers
 */
struct servers {
	u32 nr;
	u64 *free_ns;
};

/* All of them are free. */
void servers_reset(struct servers *servers, u64 *free_ns, u32 nr);

/* When a request that comes now begins, ns; there is at least one server. */
u64 servers_start_ns(const struct servers *servers, u64 now_ns);

/* The server that is free first is busy until then, which is not sooner. */
void servers_occupy(struct servers *servers, u64 until_ns);

#endif
