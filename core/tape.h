/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A tape: every call that a host made into a scheduler, in order, with what the
 * scheduler answered.  The kernel's shim records one (kernel/iosched/tape_recorder.c);
 * sim/replay.c plays it to the same scheduler, which must answer the same.
 *
 * In a file, a header and then the calls, little endian, no padding.
 */
#ifndef UNDERSTUDY_TAPE_H
#define UNDERSTUDY_TAPE_H

#include "request.h"

#define TAPE_MAGIC 0x31657061742d7375ull /* "us-tape1" */
#define TAPE_NAME_BYTES 16

/* The operations of struct scheduler that change its state. */
enum tape_kind {
	TAPE_ADD = 0,
	TAPE_REMOVE = 1,
	TAPE_NEXT = 2,
	TAPE_COMPLETED = 3,
	TAPE_GROWN = 4,
	TAPE_POSITIONING =
		5, /* no call into it but a question of its own, within next */
	TAPE_KINDS = 6,
};

/**
 * struct tape_call - one call
 * @now_ns: when; never before the call ahead of it
 * @id: of the request that was handed in, or out by next; 0: next gave none, or the
 *	disk has grown
 * @arrival_ns, @sector, @sectors, @owner, @weight, @op, @io_class, @level: its own
 *	as well, 0 if there is none
 * @sector: also the size to which the disk has grown
 * @reason: why next chose it
 * @wake_ns: what next asked for; or what the host said of a request's positioning time
 * @place: which piece of the host's memory holds it, from add until it is removed
 *	or completed; a scheduler can tell one request in a place from the next
 * @kind: enum tape_kind
 * @unused: 0
 */
struct tape_call {
	u64 now_ns;
	u64 id;
	u64 arrival_ns;
	u64 sector;
	u64 wake_ns;
	u32 sectors;
	u32 owner;
	u32 weight;
	u32 place;
	u8 kind;
	u8 op;
	u8 io_class;
	u8 level;
	u8 reason;
	u8 unused[3];
};

/**
 * struct tape_header - what comes before the calls
 * @magic: TAPE_MAGIC
 * @header_bytes, @call_bytes: sizes of the two structures
 * @room: most calls that fit
 * @calls: calls that were made; the first @room of them follow
 * @capacity_sectors, @max_requests, @depth: struct sched_limits; places are below the second
 * @scheduler: its name, padded with zeros
 */
struct tape_header {
	u64 magic;
	u32 header_bytes;
	u32 call_bytes;
	u64 room;
	u64 calls;
	u64 capacity_sectors;
	u32 max_requests;
	u32 depth;
	char scheduler[TAPE_NAME_BYTES];
};

/* Write down the request that a call is about. */
static inline void tape_describe(struct tape_call *call, const struct io_request *rq)
{
	call->id = rq->id;
	call->arrival_ns = rq->arrival_ns;
	call->sector = rq->sector;
	call->sectors = rq->sectors;
	call->owner = rq->owner;
	call->weight = rq->weight;
	call->op = rq->op;
	call->io_class = rq->io_class;
	call->level = rq->level;
}

#endif
