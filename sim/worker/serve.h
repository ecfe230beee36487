/* SPDX-License-Identifier: MIT */
/* The process of a scheduler that runs apart from the simulation: it carries out calls (line.h). */
#ifndef UNDERSTUDY_SERVE_H
#define UNDERSTUDY_SERVE_H

#include "line.h"

/**
 * serve_begin - from now on, report a signal that ends this process to the simulation
 * @calls: pipe from the simulation
 * @replies: pipe to it
 * @code: the scheduler's file
 */
void serve_begin(int calls, int replies, const char *code);

/**
 * serve - carry out calls until there are no more
 * @scheduler: the scheduler; NULL if none can be used
 * @error: in that case -ENOEXEC or -EPROTO
 * @words: in that case the reason
 */
void serve(const struct scheduler *scheduler, s32 error, const char *words);

/* Send a declaration; its words, if any, say why the scheduler or workload can't be used. */
void serve_self(const struct line_self *self);

/* Copies of declared texts, truncated where there is no room. */
void serve_copy(char *to, size_t bytes, const char *text);
void serve_copy_fields(struct line_field *to, const struct sched_field *from,
		       u32 count);

/* Zeroed memory, or NULL. No memory is mapped behind it: a write past its end causes a signal. */
void *serve_zalloc(size_t bytes);
void serve_free(void *memory);

#endif
