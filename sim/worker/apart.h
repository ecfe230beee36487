/* SPDX-License-Identifier: MIT */
/*
 * A proxy for a scheduler in another process (serve.h). The proxy is called as if the scheduler
 * were in this process.
 *
 * Whatever the scheduler does in its process, only its choices reach this process, where the
 * contract checks them. If the scheduler's process ends, this process ends too; job.h describes the
 * results that this process's starter then finds.
 */
#ifndef UNDERSTUDY_APART_H
#define UNDERSTUDY_APART_H

#include "line.h"

/**
 * struct apart_end - information about a scheduler that ended early
 * @fault: the code at which a signal hit the scheduler
 * @refused_bytes: size of the last memory allocation that was refused, or 0
 */
struct apart_end {
	struct fault *fault;
	u64 *refused_bytes;
};

/**
 * apart_open - connect to the scheduler
 * @calls: pipe to the scheduler
 * @replies: pipe from the scheduler
 * @end: filled in when the scheduler's process has ended
 * @words: CONTRACT_TEXT bytes for a message that explains why the scheduler cannot be used
 * @error: set to 0, -ENOEXEC if the scheduler cannot be loaded, or -EPROTO if its declaration
 *	breaks a rule
 *
 * Returns: the scheduler, which may be used until this process ends; or NULL.
 */
const struct scheduler *apart_open(int calls, int replies, struct apart_end end,
				   char words[CONTRACT_TEXT], s32 *error);

#endif
