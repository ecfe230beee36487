/* SPDX-License-Identifier: MIT */
/*
 * What a simulation and a scheduler that runs apart from it say to each other over two pipes.
 *
 * The simulation (apart.c) calls, the scheduler's process (serve.c) answers.  First come a
 * struct line_reply and a struct line_self, unasked; then a reply for each call of init, next,
 * more and exit.  The other calls wait in the simulation until one of those follows.
 *
 * A request goes by its slot: the scheduler has copies, so what it writes into them concerns
 * nobody else.  An answer carries the chosen copy back: the contract compares it with what the
 * host asked for.
 */
#ifndef UNDERSTUDY_LINE_H
#define UNDERSTUDY_LINE_H

#include "../../core/contract.h"
#include "fault.h"

#define LINE_NAME_BYTES 64
#define LINE_HELP_BYTES 256
#define LINE_SLOTS (1u << 21) /* twice as many requests as a simulation has room for */
#define LINE_NO_SLOT U32_MAX

/* The operations of struct scheduler, and what the host says of positions and tunables. */
enum line_kind {
	LINE_TUNED, /* tunable number @slot is @value */
	LINE_INIT,
	LINE_GROWN, /* to @value sectors */
	LINE_ADD,
	LINE_REMOVE,
	LINE_POSITION, /* @value ns for @slot, within the next call of next */
	LINE_NEXT,
	LINE_MORE, /* @slot was chosen */
	LINE_COMPLETED,
	LINE_EXIT,
};

/**
 * struct line_call - one call
 * @kind: enum line_kind
 * @slot: of the request that it is about
 * @now_ns: as the operation has it
 * @value: see enum line_kind
 * @rq: the request; its own fields are not used
 * @limits: of LINE_INIT; without pointers
 */
struct line_call {
	u32 kind;
	u32 slot;
	u64 now_ns;
	u64 value;
	union {
		struct io_request rq;
		struct sched_limits limits;
	};
};

enum line_answer { LINE_DONE, LINE_FAULT };

/**
 * struct line_reply - one answer
 * @kind: LINE_FAULT if a signal ends the process: only @fault and @refused_bytes count
 * @error: what init returned
 * @slot: of the chosen request, LINE_NO_SLOT for none, any other number for one that
 *	was never added
 * @has_work: what has_work says after the call
 * @wake_ns: as next has it
 * @refused_bytes: the last piece of memory that it did not get, or 0
 * @fault: where the signal met it
 * @rq: the chosen request as the scheduler left it
 * @counters: their values after the call
 */
struct line_reply {
	u32 kind;
	s32 error;
	u32 slot;
	u8 has_work;
	u64 wake_ns;
	u64 refused_bytes;
	struct fault fault;
	struct io_request rq;
	u64 counters[SCHED_FIELDS_MAX];
};

struct line_field {
	char name[LINE_NAME_BYTES];
	char help[LINE_HELP_BYTES];
	u64 initial;
	u64 min;
	u64 max;
};

/**
 * struct line_self - what a scheduler says of itself
 * @error: 0; -ENOEXEC if it cannot be loaded, and @words say why; -EPROTO if its
 *	declaration breaks a rule, and @words say which
 * @has_more: it has the operation
 */
struct line_self {
	s32 error;
	u32 depth;
	u32 nr_tunables;
	u32 nr_counters;
	u8 needs_model;
	u8 has_more;
	char words[LINE_HELP_BYTES];
	char name[LINE_NAME_BYTES];
	char summary[LINE_HELP_BYTES];
	struct line_field tunables[SCHED_FIELDS_MAX];
	struct line_field counters[SCHED_FIELDS_MAX];
};

/* All of it, or false. */
bool line_read(int file, void *into, size_t bytes);
bool line_write(int file, const void *from, size_t bytes);

#endif
