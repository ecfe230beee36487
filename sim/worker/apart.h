/* SPDX-License-Identifier: MIT */
/*
 * Proxies for a scheduler, a prefetcher and a replacement policy that are in other processes
 * (serve.h). A proxy is called as if its part were in this process.
 *
 * Whatever a part does in its process, only its choices reach this process, where the contract
 * checks them. If its process ends, this process ends too; job.h describes the results that this
 * process's starter then finds.
 */
#ifndef UNDERSTUDY_APART_H
#define UNDERSTUDY_APART_H

#include "line.h"

/**
 * struct apart_end - information about a part that ended early
 * @fault: the part, and the code at which a signal hit it
 * @refused_bytes: size of the last memory allocation that was refused, or 0
 */
struct apart_end {
	struct fault *fault;
	u64 *refused_bytes;
};

/* Descriptors of the pipes to and from the part. */
struct apart_pipes {
	int calls;
	int replies;
};

/*
 * Connect to a part. Returns its proxy, which may be used until this process ends. Otherwise it
 * returns NULL, *error is -ENOEXEC if the part cannot be loaded or -EPROTO if its declaration breaks
 * a rule, and words are the reason, of at most CONTRACT_TEXT bytes.
 */
const struct scheduler *apart_scheduler(struct apart_pipes pipes, struct apart_end end,
					char *words, s32 *error);
const struct prefetcher *apart_prefetcher(struct apart_pipes pipes,
					  struct apart_end end, char *words,
					  s32 *error);
const struct replacer *apart_replacer(struct apart_pipes pipes, struct apart_end end,
				      char *words, s32 *error);

#endif
