// SPDX-License-Identifier: GPL-2.0
/*
 * Handles merges.  The block layer merges requests.  The shim then removes the old request from the
 * scheduler and adds the merged request with the same id.
 */
#include "iosched.h"

void index_for_merge(struct iosched *is, struct request *rq)
{
	elv_rb_add(&is->sorted[direction(rq)], rq);
	if (!rq_mergeable(rq))
		return;
	elv_rqhash_add(is->q, rq);
	if (!is->q->last_merge)
		is->q->last_merge = rq;
}

void unindex(struct iosched *is, struct request *rq)
{
	elv_rb_del(&is->sorted[direction(rq)], rq);
	elv_rqhash_del(is->q, rq);
	if (is->q->last_merge == rq)
		is->q->last_merge = NULL;
}

bool iosched_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs)
{
	struct iosched *is = q->elevator->elevator_data;
	struct request *freed = NULL;
	unsigned long flags;
	bool merged;

	spin_lock_irqsave(&is->lock, flags);
	merged = blk_mq_sched_try_merge(q, bio, nr_segs, &freed);
	spin_unlock_irqrestore(&is->lock, flags);
	if (freed)
		blk_mq_free_request(freed);
	return merged;
}

int iosched_request_merge(struct request_queue *q, struct request **into,
			  struct bio *bio)
{
	struct iosched *is = q->elevator->elevator_data;
	u8 op = op_is_write(bio_op(bio)) ? IO_WRITE : IO_READ;
	struct request *rq = elv_rb_find(&is->sorted[op], bio_end_sector(bio));

	if (!rq || !elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*into = rq;
	return blk_discard_mergable(rq) ? ELEVATOR_DISCARD_MERGE : ELEVATOR_FRONT_MERGE;
}

static void extent_changed(struct iosched *is, struct slot *slot)
{
	u64 now_ns = ktime_get_ns();

	call_remove(is, slot, now_ns);
	call_add(is, slot, now_ns);
}

void iosched_request_merged(struct request_queue *q, struct request *rq,
			    enum elv_merge type)
{
	struct iosched *is = q->elevator->elevator_data;
	struct slot *slot = slot_of(rq);

	if (!slot)
		return;
	if (type == ELEVATOR_FRONT_MERGE) {
		elv_rb_del(&is->sorted[direction(rq)], rq);
		elv_rb_add(&is->sorted[direction(rq)], rq);
	}
	extent_changed(is, slot);
}

/*
 * Called when the request `gone` was merged into `rq`.  If `gone` was not inserted before, it has
 * no slot.  The merged request keeps the id and the arrival time of the older of the two requests.
 */
void iosched_requests_merged(struct request_queue *q, struct request *rq,
			     struct request *gone)
{
	struct iosched *is = q->elevator->elevator_data;
	struct slot *slot = slot_of(rq), *lost = slot_of(gone);
	u64 now_ns = ktime_get_ns();

	if (slot)
		call_remove(is, slot, now_ns);
	if (lost) {
		call_remove(is, lost, now_ns);
		unindex(is, gone);
		if (slot && lost->io.id < slot->io.id) {
			slot->io.id = lost->io.id;
			slot->io.arrival_ns = lost->io.arrival_ns;
		}
		free_slot(is, lost);
	}
	if (slot)
		call_add(is, slot, now_ns);
}
