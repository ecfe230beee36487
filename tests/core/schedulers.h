/* SPDX-License-Identifier: MIT */
/*
 * The schedulers that are linked into a program, found through the section in which
 * they register with SCHEDULERS_IN_A_LIST.
 */
#ifndef UNDERSTUDY_TEST_SCHEDULERS_H
#define UNDERSTUDY_TEST_SCHEDULERS_H

#include "../../core/scheduler.h"

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

#endif
