/* SPDX-License-Identifier: MIT */
/*
 * The workloads that are linked into this program. When the program is built, registry.py lists
 * what the files of sim/workloads/ register, so there is no list to edit.
 */
#ifndef UNDERSTUDY_REGISTRY_H
#define UNDERSTUDY_REGISTRY_H

#include "workload.h"

u32 workload_count(void);

/* The workloads are in no particular order. */
const struct workload *workload_get(u32 index);

#endif
