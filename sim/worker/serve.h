/* SPDX-License-Identifier: MIT */
/*
 * The main loop of a process that runs a scheduler or a policy of the page cache apart from the
 * simulation: it carries out calls (line.h).
 */
#ifndef UNDERSTUDY_SERVE_H
#define UNDERSTUDY_SERVE_H

#include "../../core/declaration.h"
#include "line.h"

/**
 * serve_begin - connect to the simulation, and report to it any signal that ends this process
 * @calls: pipe from the simulation
 * @replies: pipe to the simulation
 * @part: enum sim_part
 * @code: the file of the scheduler or policy
 */
void serve_begin(int calls, int replies, u32 part, const char *code);

/*
 * Carry out calls until there are no more. The scheduler or policy is NULL if it cannot be used;
 * then the members @error and @words of `self` are the reason.
 */
void serve_scheduler(const struct scheduler *scheduler, struct line_self *self);
void serve_prefetcher(const struct prefetcher *prefetcher, struct line_self *self);
void serve_replacer(const struct replacer *replacer, struct line_self *self);

/* The reply to the next call, and the state of the scheduler or policy. */
extern struct line_reply serve_reply;
extern void *serve_state;

/* Send the reply. */
void serve_say(void);

/* Set the members of a declaration that schedulers and policies have alike. */
void serve_introduce(struct line_self *self, const struct declaration *declaration);

/*
 * Send a declaration, then let carry_out() carry out the calls that change no tunable. It sets what
 * it has to reply, and returns whether the simulation waits for a reply.
 */
void serve(struct line_self *self, bool (*carry_out)(const struct line_call *call));

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
