/* SPDX-License-Identifier: MIT */
/*
 * The parts that are linked into this program: workloads and, in programs compiled with
 * SCHEDULERS_IN_A_LIST, schedulers, prefetchers and replacement policies. When the program is built,
 * registry.py lists what the files of a folder register, so there is no list to edit. The parts of a
 * list are in no particular order.
 */
#ifndef UNDERSTUDY_REGISTRY_H
#define UNDERSTUDY_REGISTRY_H

#include "../core/prefetch.h"
#include "../core/replacement.h"
#include "workload.h"

u32 workload_count(void);
const struct workload *workload_get(u32 index);

u32 scheduler_count(void);
const struct scheduler *scheduler_get(u32 index);

u32 prefetcher_count(void);
const struct prefetcher *prefetcher_get(u32 index);

u32 replacer_count(void);
const struct replacer *replacer_get(u32 index);

#endif
