/* SPDX-License-Identifier: MIT */
/*
 * What a run asks of its device, as counts of requests: what a profile of that device must have
 * been checked with for the run to be believed (understudy/measure/demand.py has the same
 * counts of recorded requests).
 */
#ifndef UNDERSTUDY_DEMAND_H
#define UNDERSTUDY_DEMAND_H

#include "../core/request.h"

#define DEMAND_PAGE_SECTORS 8
#define DEMAND_LONG_SECTORS 256 /* longer than what a host reads ahead */
#define DEMAND_PAUSE_NS 1000000ull
#define DEMAND_REST_NS 20000000ull /* longer than a rotation takes */
#define DEMAND_NEAR_SECTORS 65536 /* 32 MiB: some cylinders */
#define DEMAND_BESIDE_SECTORS 2048 /* 1 MiB: another stream's prefetch may be there */
#define DEMAND_ENDS 128 /* a power of two */
#define DEMAND_PLACES 512 /* a power of two */

/**
 * struct demand - usable when zeroed
 * @written: writes
 * @sized: of another length than a page
 * @long_ones: longer than DEMAND_LONG_SECTORS
 * @sequential: begin where the last request ended
 * @streamed: begin where an earlier one ended
 * @again: neither, and begin where an earlier request began
 * @near: none of these, and begin closer than DEMAND_NEAR_SECTORS to where the last one ended
 * @beside: streamed or again, outside the last request and closer than DEMAND_BESIDE_SECTORS to
 *	where it ended
 * @paused: find a device that has been idle for DEMAND_PAUSE_NS or more
 * @rested: find it idle for DEMAND_REST_NS or more
 * @met_busy: came while the device served another one
 * @last_begin: of the last request, plus one
 * @last_end: likewise
 * @end: ends of requests, each kept until another one takes its slot
 * @begin: likewise, where they began
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
 * Count a request that completed; idle_ns: of the device, before its dispatch; busy_until_ns: the
 * completion before this one.
 */
void demand_add(struct demand *demand, const struct io_request *io, u64 idle_ns,
		u64 busy_until_ns);

#endif
