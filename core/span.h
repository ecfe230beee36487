/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Spans of sectors, [start, end). A search compares one sector or request with many spans, most of
 * which are either below or above it. A processor predicts a single comparison well if it is seldom
 * true, but not two comparisons that are each true half of the time. So each function in this file
 * makes a single comparison.
 */
#ifndef UNDERSTUDY_SPAN_H
#define UNDERSTUDY_SPAN_H

#include "port.h"

/* Return whether the sector is in the span or is the first sector after the span. */
static inline bool span_reaches(u64 start, u64 end, u64 sector)
{
	return sector - start <= end - start;
}

/* Return whether the two spans overlap. The second span has at least one sector. */
static inline bool span_touches(u64 start, u64 end, u64 sector, u64 sectors)
{
	return sector + sectors - 1 - start < end - start + sectors - 1;
}

#endif
