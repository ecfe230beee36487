/* SPDX-License-Identifier: MIT */
/*
 * The two policies of the page cache, in the terms of core/prefetch.h and core/replacement.h. A
 * prefetcher and a replacement policy are compiled in if the Makefile was given their files
 * (PREFETCHER, REPLACER); otherwise nothing is prefetched, and pages leave in the order in which
 * they came.
 */
#ifndef POLICIES_H
#define POLICIES_H

#include "os.h"

bool policies_init(u32 slots, u32 most_pages, u32 streams);

/* The operations of struct replacer. */
void policies_add(u32 slot, u32 file, u32 page);
void policies_used(u32 slot);
u32 policies_victim(u32 file, u32 page);

/* Return how many pages to prefetch for the current thread, and set the first one. */
u32 policies_prefetch(u32 file, u32 page, u32 file_pages, u32 found, u32 *first);

/* A page that was prefetched for a thread leaves the cache, and nobody has read it. */
void policies_wasted(u32 thread, u32 file, u32 page);

#endif
