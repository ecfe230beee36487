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
 * @largest_bytes: most memory that the process had
 */
struct fault {
	u32 signal;
	u64 offset;
	u64 largest_bytes;
};

/*
 * Note what signals end this process, in `fault`, and call `noted` then, unless it is NULL.
 * The scheduler's code is whatever was loaded from `file`.
 */
void fault_watch(struct fault *fault, const char *file, void (*noted)(void));

#endif
