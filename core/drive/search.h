/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which of many that ascend a place belongs to: samples of a curve, zones, slips.  Each begins with
 * a u64, where it begins.
 */
#ifndef UNDERSTUDY_SEARCH_H
#define UNDERSTUDY_SEARCH_H

#include "../port.h"

/*
 * The last one that begins at that place or before, of nr elements, 1 at least; the first if none
 * does.  Always in as many steps, and nothing to foresee: which half it is, is as good as random.
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
