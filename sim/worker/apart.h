/* SPDX-License-Identifier: MIT */
/*
 * A proxy for a scheduler in another process (serve.h), called as if it were in this one.
 *
 * Only the scheduler's choices arrive here, whatever it does there, and the contract checks them.
 * If the scheduler's process ends, so does this one; job.h says what its starter finds.
 */
#ifndef UNDERSTUDY_APART_H
#define UNDERSTUDY_APART_H

#include "line.h"

/**
 * struct apart_end - information about a scheduler that ended early
 * @fault: where a signal hit it
 * @refused_bytes: size of the last memory allocation that was refused, or 0
 */
struct apart_end {
	struct fault *fault;
	u64 *refused_bytes;
};

/**
 * apart_open - connect to the scheduler
 * @calls: pipe to it
 * @replies: pipe from it
 * @end: filled in when the scheduler is gone
 * @words: CONTRACT_TEXT bytes for a message why it cannot be used
 * @error: set to 0, -ENOEXEC if it cannot be loaded, or -EPROTO if its declaration breaks a
 *	rule
 *
 * Returns: the scheduler, which may be used until this process ends; or NULL.
 */
const struct scheduler *apart_open(int calls, int replies, struct apart_end end,
				   char words[CONTRACT_TEXT], s32 *error);

#endif
