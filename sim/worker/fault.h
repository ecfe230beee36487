/* SPDX-License-Identifier: MIT */
/* Records at which code a signal hit the scheduler, before the signal ends this process. */
#ifndef UNDERSTUDY_FAULT_H
#define UNDERSTUDY_FAULT_H

#include "../../core/port.h"

/**
 * struct fault - the code that was running when a signal arrived
 * @signal: the signal, or 0
 * @offset: offset, in the scheduler's file, of the scheduler's innermost running code; 0 if none of
 *	it was running
 * @largest_bytes: most memory that the process has used
 */
struct fault {
	u32 signal;
	u64 offset;
	u64 largest_bytes;
};

/*
 * Record in `fault` each signal that ends this process, and then call `noted`, unless `noted` is
 * NULL. Code loaded from `file` counts as the scheduler's.
 */
void fault_watch(struct fault *fault, const char *file, void (*noted)(void));

#endif
