/* SPDX-License-Identifier: MIT */
/*
 * The schedulers and workloads that are linked into this program.  Each file of
 * core/schedulers/ and sim/workloads/ registers itself in a linker section, so there is
 * no list to edit.
 */
#ifndef UNDERSTUDY_REGISTRY_H
#define UNDERSTUDY_REGISTRY_H

#include "workload.h"

u32 registry_count(void);

/* In no particular order. */
const struct scheduler *registry_get(u32 index);

/* NULL if there is none of that name. */
const struct scheduler *registry_find(const char *name);

/*
 * Its state, zeroed, with the tunables' initial values in it; init comes next.
 * NULL if there is no memory.  Give it back with port_free.
 */
void *registry_new_state(const struct scheduler *scheduler);

u32 workload_count(void);

/* In no particular order. */
const struct workload *workload_get(u32 index);

#endif
