/* SPDX-License-Identifier: MIT */
/* Records where in the scheduler's code a signal arrived, before the signal ends this process. */
#ifndef UNDERSTUDY_FAULT_H
#define UNDERSTUDY_FAULT_H

#include "../../core/port.h"

/**
 * struct fault - the code that was running when a signal arrived
 * @signal: the signal, or 0
 * @offset: offset in the scheduler's file of the innermost stack frame that is in that file; 0 if
 *	there is none
 * @largest_bytes: most memory that the process has used
 */
struct fault {
	u32 signal;
	u64 offset;
	u64 largest_bytes;
};

/*
 * From now on, before a signal ends this process, record the signal in `fault`, and then call
 * `noted` unless `noted` is NULL. Code loaded from `file` counts as the scheduler's.
 */
void fault_watch(struct fault *fault, const char *file, void (*noted)(void));

#endif
