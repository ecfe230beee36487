/* SPDX-License-Identifier: MIT */
/*
 * This process's end of the connection to a scheduler or a policy in another process (line.h). If
 * the other process ends, this process ends too, and leaves word of which part it was.
 */
#ifndef UNDERSTUDY_APART_LINE_H
#define UNDERSTUDY_APART_LINE_H

#include "apart.h"

#define CALLS_MAX 256

/* The state that the host allocates for a proxy: values of tunables and counters. */
struct fields {
	u64 tunables[SCHED_FIELDS_MAX];
	u64 counters[SCHED_FIELDS_MAX];
};

/**
 * struct apart_line - a connection
 * @part: enum sim_part
 * @self: what the other process declares
 * @calls: calls waiting to be sent
 * @reply: the last reply
 * @replies: number of replies received
 * @tuned: values of tunables last sent
 */
struct apart_line {
	int calls_file;
	int replies_file;
	u32 part;
	struct apart_end end;
	struct line_self self;
	struct sched_field tunables[SCHED_FIELDS_MAX];
	struct sched_field counters[SCHED_FIELDS_MAX];

	struct line_call calls[CALLS_MAX];
	u32 nr_calls;
	struct line_reply reply;
	u64 replies;
	u64 tuned[SCHED_FIELDS_MAX];
};

/* Receive the declaration. */
void apart_line_open(struct apart_line *line, u32 part, struct apart_pipes pipes,
		     struct apart_end end);

/* Return a new call to fill in, which is sent later. */
struct line_call *apart_line_call(struct apart_line *line, enum line_kind kind);

/* Send the calls, wait for a reply to the last one, and set the counters. */
void apart_line_ask(struct apart_line *line, struct fields *fields);

/* Send the tunables: all, or those that have changed. */
void apart_line_tell_tunables(struct apart_line *line, const struct fields *fields,
			      bool all);

/* End this process, since that of the part is gone. */
void __attribute__((noreturn)) apart_line_alone(struct apart_line *line);

#endif
