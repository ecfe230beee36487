/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A tape is a record of every call that a host made into a scheduler, in order, with the
 * scheduler's results. The kernel's shim records a tape (kernel/iosched/tape_recorder.c).
 * sim/replay.c replays the tape with the same scheduler, which must return the same results.
 *
 * A file consists of a header and then the calls, little endian, without padding.
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
	TAPE_POSITIONING = 5, /* the scheduler's call to positioning_ns, within next */
	TAPE_KINDS = 6,
};

/**
 * struct tape_call - one call
 * @now_ns: time of the call; never earlier than the time of the previous call
 * @id: id of the request passed to the scheduler, or returned by next; 0: next returned none, or
 *	the disk has grown
 * @arrival_ns, @sector, @sectors, @owner, @weight, @op, @io_class, @level: fields of that
 *	request, 0 if there is none
 * @sector: if the disk has grown, its new size
 * @reason: why next chose the request
 * @wake_ns: the time that next set, or the positioning time that the host returned
 * @place: index of the request's place in the host's memory, from add until it is removed or
 *	completed; a scheduler can distinguish successive requests in one place
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
 * struct tape_header - the header of a tape, before the calls
 * @magic: TAPE_MAGIC
 * @header_bytes, @call_bytes: sizes of the two structures
 * @room: largest number of calls that fit
 * @calls: number of calls that the host made; the tape holds the first @room of them
 * @capacity_sectors, @max_requests, @depth: as in struct sched_limits; @place of a call is below
 *	@max_requests
 * @scheduler: name of the scheduler, padded with zeros
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

/* Copy the fields of a request into a call. */
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
