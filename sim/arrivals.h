/* SPDX-License-Identifier: MIT */
/*
 * The requests of one class: their arrival times, the number of pieces into which each request is
 * split, their service times and directions. The columns may be larger than memory. They are in a file
 * (understudy_devices/native/arrivals.py), which another process may change during the run. So a
 * bad value can corrupt only the result: no value that is read decides what memory is read.
 *
 * A walk takes requests from the columns, either as recorded, or in blocks of consecutive requests
 * from random places: a circular block bootstrap, which keeps the distributions, the
 * autocorrelation within a block, and which service times followed which arrivals.
 */
#ifndef UNDERSTUDY_ARRIVALS_H
#define UNDERSTUDY_ARRIVALS_H

#include "../core/draw.h"

#define RECORDED_SERVICE_MAX (1ull << 46) /* ns */

/**
 * struct arrivals - requests of one class; the arrays are in the caller's memory
 * @count: number of arrivals
 * @arrival_ns: arrival times in ascending order, below 2^62
 * @pieces: number of pieces of each request, at least 1
 * @service_ns: service time of each piece of the request, or NULL
 * @waited_ns: how long each request had waited before it arrived, or NULL: not at all
 * @write: whether the request is a write, or NULL: only reads
 */
struct arrivals {
	u64 count;
	const u64 *arrival_ns;
	const u16 *pieces;
	const u64 *service_ns;
	const u64 *waited_ns;
	const u8 *write;
};

/**
 * struct resampling - how a class takes its requests from its arrivals
 * @block: number of requests in a block; 0: the requests as recorded
 * @pool_ns: blocks have only requests that arrive before this time
 * @recorded: take service times from the arrivals as well; 0: sample them from a process
 */
struct resampling {
	u64 block;
	u64 pool_ns;
	u64 recorded;
};

/**
 * struct arrivals_walk - the requests of one class during a run
 * @place: index of the current request
 * @at_ns: when the current request arrives
 */
struct arrivals_walk {
	const struct arrivals *arrivals;
	struct draw draw;
	u64 block;
	u64 count;
	u64 until_ns;
	u64 wrap_ns;
	u64 taken;
	u64 left;
	u64 place;
	u64 at_ns;
};

/**
 * arrivals_before - count the requests that arrive before a given time
 * @until_ns: the time; later arrivals are not examined
 * @count: set to the number of requests that arrive before @until_ns
 *
 * Returns: 0, or -EBADMSG if the arrivals are out of order, if a request has no pieces, or if a
 * request arrives at 2^62 ns or later.
 */
int arrivals_before(const struct arrivals *arrivals, u64 until_ns, u64 *count);

/**
 * arrivals_walk_begin - begin a walk
 * @resampling: NULL: the requests as recorded
 * @until_ns: the walk ends with the last request that arrives before this time
 * @seed, @stream: blocks begin at random places from this stream of the seed
 *
 * In a walk with blocks the first request arrives at 0, and a block that reaches the last request
 * goes on with the first one, a mean interarrival time later. Such a walk has at most four times as
 * many requests as it may choose from.
 *
 * Returns: 0, or the error of arrivals_before().
 */
int arrivals_walk_begin(struct arrivals_walk *walk, const struct arrivals *arrivals,
			const struct resampling *resampling, u64 until_ns, u64 seed,
			u64 stream);

/* Go to the next request; return false, now and later, if there is none. */
bool arrivals_walk_next(struct arrivals_walk *walk);

/* The number of pieces of the current request. */
u32 arrivals_walk_pieces(const struct arrivals_walk *walk);

/* Whether the current request is a write. */
bool arrivals_walk_write(const struct arrivals_walk *walk);

/* How long the current request had waited before it arrived, below 2^62. */
u64 arrivals_walk_waited_ns(const struct arrivals_walk *walk);

/* The service time of a piece of the current request, from 1 to RECORDED_SERVICE_MAX. */
u64 arrivals_walk_service_ns(const struct arrivals_walk *walk);

#endif
