/* SPDX-License-Identifier: MIT */
/*
 * The main loop of a process that runs a scheduler apart from the simulation: it carries out calls
 * (line.h).
 */
#ifndef UNDERSTUDY_SERVE_H
#define UNDERSTUDY_SERVE_H

#include "line.h"

/**
 * serve_begin - connect to the simulation, and report to it any signal that ends this process
 * @calls: pipe from the simulation
 * @replies: pipe to the simulation
 * @code: the scheduler's file
 */
void serve_begin(int calls, int replies, const char *code);

/**
 * serve - carry out calls until there are no more
 * @scheduler: the scheduler; NULL if it cannot be used
 * @error: -ENOEXEC or -EPROTO if it cannot be used
 * @words: the reason if it cannot be used
 */
void serve(const struct scheduler *scheduler, s32 error, const char *words);

/*
 * Send a declaration. If the scheduler or workload cannot be used, @words of the declaration are
 * the reason.
 */
void serve_self(const struct line_self *self);

/* Copy a string of a declaration, truncated to `bytes`. */
void serve_copy(char *to, size_t bytes, const char *text);
void serve_copy_fields(struct line_field *to, const struct sched_field *from,
		       u32 count);

/*
 * Return zeroed memory, or NULL. An inaccessible page follows the memory, so a write past its end
 * causes a signal.
 */
void *serve_zalloc(size_t bytes);
void serve_free(void *memory);

#endif
