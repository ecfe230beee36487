// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the scheduler.  The contract checks each call, and the tape records it.  The scheduler's
 * calls to the disk's model are in this file too.
 *
 * The clock is read once for each call, or once for all calls that one event causes, with the lock
 * held.  So the time never decreases from one call to the next.
 */
#include <linux/module.h>

#include "iosched.h"

static void record(struct iosched *is, enum tape_kind kind, const struct io_request *io,
		   u64 now_ns, u64 wake_ns)
{
	struct tape_call call = { .kind = kind, .now_ns = now_ns, .wake_ns = wake_ns };

	if (io) {
		tape_describe(&call, io);
		call.place = container_of(io, struct slot, io) - is->slots;
		call.reason = kind == TAPE_NEXT ? io->reason : 0;
	}
	tape_record(is->tape, &call);
}

/*
 * Passes a larger capacity to the scheduler.  A smaller capacity is not passed on, since requests
 * beyond the new end may be pending.
 */
static void follow_capacity(struct iosched *is, u64 needed, u64 now_ns)
{
	struct tape_call call = { .kind = TAPE_GROWN, .now_ns = now_ns };

	call.sector = max_t(u64, get_capacity(is->q->disk), needed);
	if (call.sector <= is->capacity_sectors)
		return;
	is->capacity_sectors = call.sector;
	contract_grown(&is->contract, call.sector);
	if (is->tape)
		tape_record(is->tape, &call);
}

void call_add(struct iosched *is, struct slot *slot, u64 now_ns)
{
	slot->io.sector = blk_rq_pos(slot->rq);
	slot->io.sectors = blk_rq_sectors(slot->rq);
	follow_capacity(is, request_end(&slot->io), now_ns);
	contract_add(&is->contract, &slot->io, now_ns);
	if (is->tape)
		record(is, TAPE_ADD, &slot->io, now_ns, 0);
	is->waiting = false;
}

void call_remove(struct iosched *is, struct slot *slot, u64 now_ns)
{
	contract_remove(&is->contract, &slot->io);
	if (is->tape)
		record(is, TAPE_REMOVE, &slot->io, now_ns, 0);
}

struct io_request *call_next(struct iosched *is, u64 now_ns, u64 *wake_ns)
{
	struct io_request *io = contract_next(&is->contract, now_ns, wake_ns);

	if (is->tape)
		record(is, TAPE_NEXT, io, now_ns, *wake_ns);
	return io;
}

void call_completed(struct iosched *is, struct slot *slot, u64 now_ns)
{
	contract_completed(&is->contract, &slot->io, now_ns);
	if (is->tape)
		record(is, TAPE_COMPLETED, &slot->io, now_ns, 0);
}

/*
 * The function in sched_limits.positioning_ns: returns a positioning time to the scheduler and
 * records it.
 */
static u64 tell_positioning_ns(void *device, const struct io_request *io, u64 now_ns)
{
	struct iosched *is = device;
	u64 ns = is->positioning(is->q, io, now_ns);

	if (is->tape)
		record(is, TAPE_POSITIONING, io, now_ns, ns);
	return ns;
}

void take_model(struct iosched *is, struct sched_limits *limits)
{
	positioning_fn *(*model_of)(struct request_queue * q);

	model_of = symbol_get(vpt_model_of);
	if (!model_of)
		return;
	is->positioning = model_of(is->q);
	if (!is->positioning) {
		symbol_put(vpt_model_of);
		return;
	}
	limits->positioning_ns = tell_positioning_ns;
	limits->device = is;
}

void give_model_back(struct iosched *is)
{
	if (is->positioning)
		symbol_put(vpt_model_of);
}
