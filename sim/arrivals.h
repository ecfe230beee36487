/* SPDX-License-Identifier: MIT */
/*
 * The arrival times of the requests of one class, and the number of pieces into which each request
 * is split: two columns that may be larger than memory. The columns are in a file
 * (understudy_devices/native/arrivals.py), which another process may change during the run. So the
 * engine reads each value only once, and a bad value can corrupt only the result.
 */
#ifndef UNDERSTUDY_ARRIVALS_H
#define UNDERSTUDY_ARRIVALS_H

#include "../core/port.h"

/**
 * struct arrivals - arrivals of one class; the arrays are in the caller's memory
 * @count: number of arrivals
 * @arrival_ns: arrival times in ascending order, below 2^62
 * @pieces: number of pieces of each request, at least 1
 */
struct arrivals {
	u64 count;
	const u64 *arrival_ns;
	const u16 *pieces;
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

#endif
