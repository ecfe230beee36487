/* SPDX-License-Identifier: MIT */
/* Limits of a process that runs a user's scheduler. */
#ifndef UNDERSTUDY_CONFINE_H
#define UNDERSTUDY_CONFINE_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "../../core/port.h"

/**
 * confine - limit this process, and end it when its starter ends
 * @memory_bytes: most memory that this process may map
 * @output_bytes: longest file that this process may write; its standard output is a file
 *
 * Only Linux ends a process with its starter.
 *
 * Returns: whether the limits are in force.
 */
bool confine(u64 memory_bytes, u64 output_bytes);

/* Can this process map no more than a tenth of the memory that it may map? */
bool confine_is_full(void);

/**
 * confine_calls - restrict this process to the system calls that computations need
 *
 * After the call, this process cannot start processes, open sockets, signal other processes,
 * change files, sleep, or ask for the time or for random numbers. If this process tries, it gets the
 * signal SIGSYS; if it reads the vDSO's clocks, or on x86-64 the processor's, SIGSEGV. (A kernel that
 * seals the pages of these clocks leaves them.) A file's times are clocks, too: the handler of SIGSYS
 * has to call confine_describes_file().
 *
 * Returns: whether the kernel and the processor support this.
 */
bool confine_calls(void);

/*
 * If SIGSYS stopped an fstat(), answer that call and return true: it gets a regular file without
 * times that differs from every other file, as the loader needs. Otherwise return false.
 */
bool confine_describes_file(const siginfo_t *info, ucontext_t *context);

/* Was a clock at this address before confine_calls()? */
bool confine_has_clock(uintptr_t at);

#endif
