/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An array: equal servers that serve one request each at a time, in the order in which requests
 * arrive (ICPE 2011 section 4.1). The service times of an array do not depend on the request. A
 * request that arrives while all servers are busy begins when the first of them is free, so its
 * waiting time is determined on arrival.
 */
#ifndef UNDERSTUDY_ARRAY_H
#define UNDERSTUDY_ARRAY_H

#include "../draw.h"

/**
 * struct array - parameters of an array
 * @servers: number of servers
 * @mean_service_ns: mean service time, below 2^56
 * @exponential: service times are exponential with that mean; otherwise each is exactly the mean
 */
struct array {
	u64 servers;
	u64 mean_service_ns;
	u64 exponential;
};

/* Restart the random generator of the service times. */
void array_seed(struct draw *draw, u64 seed);

/* Return the service time of the next request, ns. */
u64 array_service_ns(const struct array *array, struct draw *draw);

/* Return the longest possible service time, ns. */
u64 array_slowest_ns(const struct array *array);

/**
 * struct servers - the time until which each server is busy
 * @nr: number of servers
 * @free_ns: when each server is free, as a heap with the earliest first, in the host's memory;
 *	NULL if there are never more requests than servers
 */
struct servers {
	u32 nr;
	u64 *free_ns;
};

/* Make all servers free. */
void servers_reset(struct servers *servers, u64 *free_ns, u32 nr);

/* Return when a request that arrives now begins, ns; there is at least one server. */
u64 servers_start_ns(const struct servers *servers, u64 now_ns);

/*
 * Occupy the server that becomes free first. The server is then busy until until_ns, which must not
 * be before it becomes free.
 */
void servers_occupy(struct servers *servers, u64 until_ns);

#endif
