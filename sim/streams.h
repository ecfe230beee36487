/* SPDX-License-Identifier: MIT */
/* A stream of random numbers for each process, the same as for the processes in a guest. */
#ifndef UNDERSTUDY_STREAMS_H
#define UNDERSTUDY_STREAMS_H

#include "../core/draw.h"

/* Returns the streams, to be freed with port_free(), or NULL if there is no memory. */
static inline struct draw *streams_new(u64 seed, u32 processes)
{
	struct draw *draw = port_zalloc(processes * sizeof(*draw));
	u32 i;

	for (i = 0; draw && i < processes; i++)
		draw_seed(&draw[i], seed, i);
	return draw;
}

#endif
