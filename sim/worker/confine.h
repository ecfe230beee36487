/* SPDX-License-Identifier: MIT */
/* What a process that runs somebody's scheduler may take and do. */
#ifndef UNDERSTUDY_CONFINE_H
#define UNDERSTUDY_CONFINE_H

#include "../../core/port.h"

/**
 * confine - limit this process, which ends with its starter
 * @memory_bytes: most that it may map
 * @output_bytes: longest file that it may write: what it prints is one
 *
 * Returns: whether it is limited.
 */
bool confine(u64 memory_bytes, u64 output_bytes);

/**
 * confine_calls - leave this process no system calls but those that computing needs
 *
 * No process, socket, signal to others or change of a file can come from it any more: a signal,
 * SIGSYS, meets whoever tries.
 *
 * Returns: whether the kernel and the processor can do that.
 */
bool confine_calls(void);

#endif
