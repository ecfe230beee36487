/* SPDX-License-Identifier: MIT */
/* Where a signal met the scheduler: noted before the signal ends this process. */
#ifndef UNDERSTUDY_FAULT_H
#define UNDERSTUDY_FAULT_H

#include "../../core/port.h"

/**
 * struct fault - what was at work
 * @signal: which one came, or 0
 * @offset: of the innermost piece of the scheduler's code, in its file, or 0 if none of
 *	it was at work
 */
struct fault {
	u32 signal;
	u64 offset;
};

/*
 * Note what signals end this process, in `fault`, which outlives it.  The scheduler's
 * code is whatever was loaded from `file`.
 */
void fault_watch(struct fault *fault, const char *file);

#endif
