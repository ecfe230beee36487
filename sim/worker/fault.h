/* SPDX-License-Identifier: MIT */
/* Records where in a user's code a signal arrived, before the signal ends this process. */
#ifndef UNDERSTUDY_FAULT_H
#define UNDERSTUDY_FAULT_H

#include "../../core/port.h"

#define SIGNALLED 128 /* exit status minus the signal's number, as in a shell */

/**
 * struct fault - the code that was running when a signal arrived
 * @signal: the signal, or 0
 * @part: whose code it was: enum sim_part
 * @offset: offset in the part's file of the innermost stack frame that is in one of the files; 0 if
 *	there is none
 * @cause: enum fault_cause
 * @full: was the memory that the process may have used up?
 */
struct fault {
	u32 signal;
	u32 part;
	u64 offset;
	u32 cause;
	u32 full;
};

enum fault_cause {
	FAULT_OTHER,
	FAULT_CLOCK, /* the code read a clock */
	FAULT_SLEEP, /* the code wanted to sleep */
	FAULT_STACK, /* the stack was used up */
	FAULT_PIPE, /* no signal: the process wrote into the pipe of the replies */
};

/*
 * From now on, before a signal ends this process, record the signal in `fault`, and then call
 * `noted` unless `noted` is NULL.
 */
void fault_watch(struct fault *fault, void (*noted)(void));

/* Code loaded from `file` counts as that of this part; at most one file for each part. */
void fault_watch_file(u32 part, const char *file);

#endif
