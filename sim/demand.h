/* SPDX-License-Identifier: MIT */
/*
 * The demands of a run on its device, as counts of requests. The results of the run are credible
 * only if the device's profile was checked with similar demands.
 * (understudy_devices/measure/demand.py computes the same counts for recorded requests.)
 */
#ifndef UNDERSTUDY_DEMAND_H
#define UNDERSTUDY_DEMAND_H

#include "../core/request.h"

#define DEMAND_PAGE_SECTORS 8
#define DEMAND_LONG_SECTORS 256 /* longer than a host's read-ahead */
#define DEMAND_PAUSE_NS 1000000ull
#define DEMAND_REST_NS 20000000ull /* longer than a rotation takes */
#define DEMAND_NEAR_SECTORS 65536 /* 32 MiB: a few cylinders */
#define DEMAND_BESIDE_SECTORS 2048 /* 1 MiB: within another stream's prefetch */
#define DEMAND_ENDS 128 /* a power of two */
#define DEMAND_PLACES 512 /* a power of two */

/**
 * struct demand - counts of requests; initially all zero
 * @written: writes
 * @sized: requests whose length is not one page
 * @long_ones: requests longer than DEMAND_LONG_SECTORS
 * @sequential: requests that begin where the last request ended
 * @streamed: other requests that begin where an earlier request ended
 * @again: requests counted in neither @sequential nor @streamed that begin where an earlier request
 *	began
 * @near: requests counted in none of @sequential, @streamed and @again that begin less than
 *	DEMAND_NEAR_SECTORS from the end of the last request
 * @beside: requests counted in @streamed or @again that begin outside the last request and less
 *	than DEMAND_BESIDE_SECTORS from its end
 * @paused: requests dispatched after the device was idle for DEMAND_PAUSE_NS or more
 * @rested: requests dispatched after the device was idle for DEMAND_REST_NS or more
 * @met_busy: requests that arrived while the device served another request
 * @last_begin: beginning of the last request, plus one
 * @last_end: end of the last request, plus one
 * @end: ends of earlier requests, a hash table in which a new end replaces the end in its slot
 * @begin: beginnings of earlier requests, a hash table like @end
 */
struct demand {
	u64 written;
	u64 sized;
	u64 long_ones;
	u64 sequential;
	u64 streamed;
	u64 again;
	u64 near;
	u64 beside;
	u64 paused;
	u64 rested;
	u64 met_busy;
	u64 last_begin;
	u64 last_end;
	u64 end[DEMAND_ENDS];
	u64 begin[DEMAND_PLACES];
};

/*
 * Count a completed request. idle_ns: how long the device was idle before the dispatch.
 * busy_until_ns: completion time of the previous request.
 */
void demand_add(struct demand *demand, const struct io_request *io, u64 idle_ns,
		u64 busy_until_ns);

#endif
