/* SPDX-License-Identifier: MIT */
/*
 * A scheduler in another process (serve.h), to be called as if it were in this one.
 *
 * Whatever it does there, here only its choices arrive, and the contract judges them.
 * If it is gone, so is this process: see job.h for what its starter finds.
 */
#ifndef UNDERSTUDY_APART_H
#define UNDERSTUDY_APART_H

#include "line.h"

/**
 * struct apart_end - what is known of a scheduler that did not come to its end
 * @fault: where a signal met it
 * @refused_bytes: the last piece of memory that it did not get, or 0
 */
struct apart_end {
	struct fault *fault;
	u64 *refused_bytes;
};

/**
 * apart_open - meet the scheduler
 * @calls: pipe to it
 * @replies: pipe from it
 * @end: to be filled in when it is gone
 * @words: CONTRACT_TEXT bytes, for why it cannot be used
 * @error: set to 0, -ENOEXEC if it cannot be loaded, or -EPROTO if its declaration
 *	breaks a rule
 *
 * Returns: the scheduler, which may be used until this process ends; or NULL.
 */
const struct scheduler *apart_open(int calls, int replies, struct apart_end end,
				   char words[CONTRACT_TEXT], s32 *error);

#endif
