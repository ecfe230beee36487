/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Spans of sectors, [start, end).  They are looked through for one sector or request, which
 * may be on either side of each: one comparison that seldom holds is foreseen by a processor,
 * two that hold as often as not are not.
 */
#ifndef UNDERSTUDY_SPAN_H
#define UNDERSTUDY_SPAN_H

#include "port.h"

/* Is it in the span or right behind it? */
static inline bool span_reaches(u64 start, u64 end, u64 sector)
{
	return sector - start <= end - start;
}

/* Do the two have a sector in common?  The second has at least one. */
static inline bool span_touches(u64 start, u64 end, u64 sector, u64 sectors)
{
	return sector + sectors - 1 - start < end - start + sectors - 1;
}

#endif
