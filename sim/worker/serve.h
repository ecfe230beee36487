/* SPDX-License-Identifier: MIT */
/* The process of a scheduler that runs apart from the simulation: it does what it is told (line.h). */
#ifndef UNDERSTUDY_SERVE_H
#define UNDERSTUDY_SERVE_H

#include "line.h"

/**
 * serve_begin - a signal that ends this process is said on the line from now on
 * @calls: pipe from the simulation
 * @replies: pipe to it
 * @code: the scheduler's file
 */
void serve_begin(int calls, int replies, const char *code);

/**
 * serve - carry out calls until there are no more
 * @scheduler: whose; NULL if there is none that can be used
 * @error: then -ENOEXEC or -EPROTO
 * @words: and why
 */
void serve(const struct scheduler *scheduler, s32 error, const char *words);

/* Say what somebody is; words, if there are any, say why it can't be used. */
void serve_self(const struct line_self *self);

/* Copies of what is declared, cut where there is no room. */
void serve_copy(char *to, size_t bytes, const char *text);
void serve_copy_fields(struct line_field *to, const struct sched_field *from,
		       u32 count);

/* Zeroed memory that nothing lies behind: who writes past its end gets a signal.  Or NULL. */
void *serve_zalloc(size_t bytes);
void serve_free(void *memory);

#endif
