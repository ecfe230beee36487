/* SPDX-License-Identifier: MIT */
/* The schedulers linked into a program (sim/registry.h). */
#ifndef UNDERSTUDY_TEST_SCHEDULERS_H
#define UNDERSTUDY_TEST_SCHEDULERS_H

#include "../../sim/registry.h"

/* Return the scheduler of that name, or NULL. */
const struct scheduler *registry_find(const char *name);

/*
 * Return a zeroed state with the tunables' initial values; call init next.  Return NULL if there is
 * no memory.  Free the state with port_free.
 */
void *registry_new_state(const struct scheduler *scheduler);

#endif
