/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Spans of sectors, [start, end). A search compares one sector or request with many spans, which
 * may be on either side of it. One comparison that seldom holds is well predicted by a processor;
 * two comparisons that each hold half of the time are not.
 */
#ifndef UNDERSTUDY_SPAN_H
#define UNDERSTUDY_SPAN_H

#include "port.h"

/* Is the sector in the span or right behind it? */
static inline bool span_reaches(u64 start, u64 end, u64 sector)
{
	return sector - start <= end - start;
}

/* Do the two spans overlap? The second has at least one sector. */
static inline bool span_touches(u64 start, u64 end, u64 sector, u64 sectors)
{
	return sector + sectors - 1 - start < end - start + sectors - 1;
}

#endif
