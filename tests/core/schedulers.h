/* SPDX-License-Identifier: MIT */
/*
 * The schedulers linked into a program.  Each registers with SCHEDULERS_IN_A_LIST; sim/registry.py
 * writes the list when the program is built.
 */
#ifndef UNDERSTUDY_TEST_SCHEDULERS_H
#define UNDERSTUDY_TEST_SCHEDULERS_H

#include "../../core/scheduler.h"

u32 scheduler_count(void);

/* In no particular order. */
const struct scheduler *scheduler_get(u32 index);

/* Return the scheduler of that name, or NULL. */
const struct scheduler *registry_find(const char *name);

/*
 * Return a zeroed state with the tunables' initial values; call init next.  Return NULL if there is
 * no memory.  Free the state with port_free.
 */
void *registry_new_state(const struct scheduler *scheduler);

#endif
