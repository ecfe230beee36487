/* SPDX-License-Identifier: MIT */
/* Where a signal hit the scheduler: noted before the signal ends this process. */
#ifndef UNDERSTUDY_FAULT_H
#define UNDERSTUDY_FAULT_H

#include "../../core/port.h"

/**
 * struct fault - the code that was running
 * @signal: the signal, or 0
 * @offset: offset in the scheduler's file of its innermost running code, or 0 if none was
 *	running
 * @largest_bytes: most memory that the process had
 */
struct fault {
	u32 signal;
	u64 offset;
	u64 largest_bytes;
};

/*
 * Note in `fault` each signal that ends this process, and then call `noted`, unless it is NULL.
 * Code loaded from `file` counts as the scheduler's.
 */
void fault_watch(struct fault *fault, const char *file, void (*noted)(void));

#endif
