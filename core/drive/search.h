/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Search in a sorted array of curve samples, zones or slips. Each element starts with a u64, which
 * is the argument or sector at which the element begins.
 */
#ifndef UNDERSTUDY_SEARCH_H
#define UNDERSTUDY_SEARCH_H

#include "../port.h"

/*
 * Return the last element that begins at or before `at`, or the first element if none does; nr is
 * at least 1. Both halves are equally likely, so a branch would often be mispredicted. Therefore
 * the loop has a fixed number of steps and no branch.
 */
static inline const void *search_last(const void *elements, u32 nr, u64 size, u64 at)
{
	const char *low = elements, *middle;
	u64 step;

	if (nr == 1)
		return low;
	step = size << (31 - __builtin_clz(nr));
	middle = low + (nr * size - step);
	do {
		low = *(const u64 *)middle <= at ? middle : low;
		step /= 2;
		middle = low + step;
	} while (step >= size);
	return low;
}

#endif
