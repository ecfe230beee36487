/* SPDX-License-Identifier: MIT */
/*
 * The protocol between a simulation and a scheduler or a policy of the page cache in a separate
 * process, over two pipes.
 *
 * The simulation (apart.h) sends calls; the separate process (serve.h) replies. First the separate
 * process sends a struct line_reply and a struct line_self without being called. Then it replies to
 * each call of init, exit, next, more, read and victim. The simulation buffers all other calls until
 * it sends one of these.
 *
 * A request is identified by its slot. The scheduler has copies of the requests, so its changes
 * affect only these copies. A reply contains the copy of the chosen request, which the contract
 * compares with the host's request.
 */
#ifndef UNDERSTUDY_LINE_H
#define UNDERSTUDY_LINE_H

#include "../../core/contract.h"
#include "../../core/prefetch.h"
#include "../../core/replacement.h"
#include "fault.h"

#define LINE_NAME_BYTES 64
#define LINE_HELP_BYTES 256
#define LINE_SLOTS (1u << 21) /* twice the most requests of a simulation */
#define LINE_NO_SLOT U32_MAX
#define EXIT_ALONE 122 /* exit status: the other process is gone */

/*
 * The calls: operations of struct scheduler, struct prefetcher and struct replacer, new values of
 * tunables, and positioning times.
 */
enum line_kind {
	LINE_TUNED, /* the tunable with the index @slot is set to @value */
	LINE_INIT,
	LINE_GROWN, /* the disk has grown to @value sectors */
	LINE_ADD,
	LINE_REMOVE,
	LINE_POSITION, /* in the next call of next, the positioning time for @slot is @value ns */
	LINE_NEXT,
	LINE_MORE, /* join another request to the chosen one in @slot */
	LINE_COMPLETED,
	LINE_EXIT,
	LINE_READ, /* of a prefetcher */
	LINE_WASTED, /* @page, which was prefetched for the stream @slot */
	LINE_PAGE_ADD, /* the rest is of a replacement policy: @page is in @slot */
	LINE_PAGE_USED,
	LINE_PAGE_REMOVE,
	LINE_VICTIM, /* to make room for @page */
};

/**
 * struct line_call - one call
 * @kind: enum line_kind
 * @slot: slot of the request or page concerned
 * @now_ns: argument of the operation
 * @value: see enum line_kind
 * @rq: the request; the scheduler's own fields are not used
 * @limits, @prefetch, @replacement: argument of LINE_INIT; its pointers are NULL
 * @page, @read: arguments of calls to policies
 */
struct line_call {
	u32 kind;
	u32 slot;
	u64 now_ns;
	u64 value;
	union {
		struct io_request rq;
		struct sched_limits limits;
		struct prefetch_limits prefetch;
		struct replacement_limits replacement;
		struct page_id page;
		struct page_read read;
	};
};

enum line_answer { LINE_DONE, LINE_FAULT };

/**
 * struct line_reply - one answer
 * @number: 1 for the first reply, 2 for the second, ...
 * @kind: LINE_FAULT if a signal ends the process; then only @fault and @refused_bytes are valid
 * @error: return value of init
 * @slot: slot of the chosen request, LINE_NO_SLOT for none, any other number for a request
 *	that was never added; or the slot that a policy evicts
 * @has_work: result of has_work after the call
 * @wake_ns: as set by next
 * @refused_bytes: size of the last memory allocation that was refused, or 0
 * @fault: the code at which the signal hit the scheduler
 * @rq: the chosen request as the scheduler left it
 * @range: what a prefetcher fetches
 * @read: the read as the prefetcher left it
 * @counters: the counters' values after the call
 */
struct line_reply {
	u64 number;
	u32 kind;
	s32 error;
	u32 slot;
	u8 has_work;
	u64 wake_ns;
	u64 refused_bytes;
	struct fault fault;
	union {
		struct io_request rq;
		struct {
			struct page_range range;
			struct page_read read;
		};
	};
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
 * struct line_self - a declaration
 * @error: 0; -ENOEXEC if the scheduler or policy cannot be loaded, -ENOMEM if there is no memory for
 *	its state, or -EPROTO if its declaration breaks a rule; in all cases @words contains the reason
 * @depth, @needs_model, @has_more: of a scheduler; @has_more: does it have the operation @more?
 * @has_wasted: does a prefetcher have the operation @wasted?
 */
struct line_self {
	s32 error;
	u32 depth;
	u32 nr_tunables;
	u32 nr_counters;
	u8 needs_model;
	u8 has_more;
	u8 has_wasted;
	char words[LINE_HELP_BYTES];
	char name[LINE_NAME_BYTES];
	char summary[LINE_HELP_BYTES];
	struct line_field tunables[SCHED_FIELDS_MAX];
	struct line_field counters[SCHED_FIELDS_MAX];
};

/* Transfer all the bytes; return false if that fails. */
bool line_read(int file, void *into, size_t bytes);
bool line_write(int file, const void *from, size_t bytes);

#endif
