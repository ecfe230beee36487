/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The random numbers of a SURGE process (PERFORM 2010 section 5, Figure 2), in the order of Figure
 * 2: a number of files; the index of each of these files; and a sleep time after every page.
 * Processes in a guest and in the simulator get the same values from the same stream.
 */
#ifndef UNDERSTUDY_SURGE_H
#define UNDERSTUDY_SURGE_H

#include "draw.h"

/* Return a number of files: Pareto(2.43, 1.00), rounded down; at least 1. */
static inline u64 surge_file_count(struct draw *draw)
{
	return draw_pareto(draw, 2430, 1000) / 1000;
}

/* Return the index of a file, sampled by popularity; n is the number of files. */
static inline u32 surge_file(struct draw *draw, u32 n)
{
	return draw_zipf(draw, n);
}

/* Return a sleep time, ns: Pareto(1.5, 2.0 ms). */
static inline u64 surge_sleep_ns(struct draw *draw)
{
	return draw_pareto(draw, 1500, 2000000);
}

#endif
