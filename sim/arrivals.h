/* SPDX-License-Identifier: MIT */
/*
 * When requests of one class arrive, and into how many pieces each is split: two columns that may
 * be longer than memory. They are in a file that another process may damage meanwhile
 * (understudy/native/arrivals.py). So each value is read only once, and a wrong value can only make
 * the result wrong.
 */
#ifndef UNDERSTUDY_ARRIVALS_H
#define UNDERSTUDY_ARRIVALS_H

#include "../core/port.h"

/**
 * struct arrivals - arrivals of one class; the arrays are the caller's
 * @count: number of arrivals
 * @arrival_ns: in order, below 2^62
 * @pieces: pieces of each request, at least 1
 */
struct arrivals {
	u64 count;
	const u64 *arrival_ns;
	const u16 *pieces;
};

/**
 * arrivals_before - how many requests arrive before a given time
 * @until_ns: the time; later arrivals are not examined
 * @count: set to the number of arrivals
 *
 * Returns: 0, or -EBADMSG if the arrivals are not in order, or one has no pieces or arrives after
 * 2^62 ns.
 */
int arrivals_before(const struct arrivals *arrivals, u64 until_ns, u64 *count);

#endif
