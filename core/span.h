/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Spans of sectors, [start, end). A search compares one sector or request with many spans, which
 * may be below or above it. A processor predicts one comparison that is seldom true well, but not
 * two comparisons that are each true half of the time.
 */
#ifndef UNDERSTUDY_SPAN_H
#define UNDERSTUDY_SPAN_H

#include "port.h"

/* Is the sector in the span, or the first sector after it? */
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
