/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A disk request, as a scheduler sees it.
 *
 * The host (the kernel shim or the simulator) owns the memory. The host fills in the first group of
 * fields before it passes the request to a scheduler. The scheduler may use the second group as it
 * likes, from the call of add until the call of completed (or remove).
 */
#ifndef UNDERSTUDY_REQUEST_H
#define UNDERSTUDY_REQUEST_H

#include "port.h"

enum io_op {
	IO_READ = 0,
	IO_WRITE = 1,
	IO_OPS = 2,
};

/* The reason why a scheduler chose a request; a column of the records. */
enum pick_reason {
	PICK_ORDER = 0, /* the scheduler's ordinary order */
	PICK_HIT = 1, /* predicted to be in the disk's cache */
	PICK_TABLE = 2, /* first of the optimal order */
	PICK_EXPIRED = 3, /* a deadline was exceeded */
	PICK_WAITED = 4, /* the expected request of a deliberate wait */
	PICK_BURST = 5, /* part of a burst of writes */
	PICK_REASONS = 6,
};

/*
 * I/O priority: a class and a level. The class with the smallest number goes first. Levels are from
 * 0, the most urgent, to 7. The numbers are those of ionice.
 */
enum io_class {
	IO_CLASS_REALTIME = 1,
	IO_CLASS_BEST_EFFORT = 2,
	IO_CLASS_IDLE = 3,
};

#define IO_LEVELS 8
#define IO_LEVEL_DEFAULT 4
#define IO_WEIGHT_DEFAULT 100

struct io_request {
	u64 sector; /* first sector, 512 bytes each */
	u64 arrival_ns;
	u64 id; /* increases with arrival; breaks ties */
	u64 cost_ns; /* service time, if the host knows it in advance, or 0 */
	u32 sectors; /* length, at least 1 */
	u32 owner; /* process that issued it */
	u32 weight; /* the owner's share, at least 1 */
	u8 op; /* enum io_op */
	u8 io_class; /* enum io_class */
	u8 level; /* below IO_LEVELS */
	bool joined; /* served together with another request: see @more in core/scheduler.h */

	u8 reason; /* enum pick_reason, set by next */
	u32 slot; /* index of the scheduler's data about the owner */
	u64 tag; /* a key for the scheduler's use */
	struct io_request *fifo_prev, *fifo_next;
};

/* Size in bytes of the first group of fields, which a scheduler may read but must not change. */
#define REQUEST_HOST_BYTES offsetof(struct io_request, reason)

/* Return the first sector after the request; the head is there after serving the request. */
static inline u64 request_end(const struct io_request *rq)
{
	return rq->sector + rq->sectors;
}

#endif
