/* SPDX-License-Identifier: MIT */
/*
 * When requests of one class arrive, and how many pieces each was split into: two
 * columns that may be longer than memory, and lie in a file that others may spoil
 * (understudy/native/arrivals.py).  So each value is read once, and nothing depends
 * on what it is but the answer.
 */
#ifndef UNDERSTUDY_ARRIVALS_H
#define UNDERSTUDY_ARRIVALS_H

#include "../core/port.h"

/**
 * struct arrivals - those of one class; the arrays are the caller's
 * @count: how many
 * @arrival_ns: in order, below 2^62
 * @pieces: of each request, from 1
 */
struct arrivals {
	u64 count;
	const u64 *arrival_ns;
	const u16 *pieces;
};

/**
 * arrivals_before - how many come before a certain instant
 * @until_ns: those that come later are not looked at
 * @count: set to how many
 *
 * Returns: 0, or -EBADMSG if they are not in order, or one has no pieces or comes after
 * 2^62 ns.
 */
int arrivals_before(const struct arrivals *arrivals, u64 until_ns, u64 *count);

#endif
