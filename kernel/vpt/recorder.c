// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival, pick, dispatch, due time and completion of each bio, kept in a buffer
 * that is allocated before the run and read out after it (PERFORM 2010 section 5 stored
 * its time stamps in a static kernel array for the same reason).
 *
 * A measurement is the first N arrivals after the start, drained: it is over when
 * the last of them has completed.
 */
#include <linux/bio.h>
#include <linux/hashtable.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "vpt.h"

#define HASH_BITS_BIO 10

/* A record on its way; the record's place in the buffer is the entry's. */
struct pending {
	struct hlist_node by_bio;
	struct bio *bio; /* NULL: completed */
};

static struct vpt_record *records;
static struct pending *pending;
static u64 wanted, arrived, completed;
static DEFINE_HASHTABLE(in_flight, HASH_BITS_BIO);

static struct pending *find(const struct bio *bio)
{
	struct pending *p;

	hash_for_each_possible (in_flight, p, by_bio, (unsigned long)bio) {
		if (p->bio == bio)
			return p;
	}
	return NULL;
}

static struct vpt_record *record_of(const struct pending *p)
{
	return &records[p - pending];
}

static u8 record_op(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return IO_READ;
	case REQ_OP_WRITE:
		return IO_WRITE;
	default:
		return VPT_OP_OTHER;
	}
}

static void end_record(struct pending *p)
{
	hash_del(&p->by_bio);
	p->bio = NULL;
	completed++;
}

static struct vpt_record *begin_record(struct bio *bio)
{
	struct pending *p = &pending[arrived++];

	p->bio = bio;
	hash_add(in_flight, &p->by_bio, (unsigned long)bio);
	return record_of(p);
}

void vpt_bio_lost(struct bio *bio)
{
	struct pending *p = find(bio);

	if (!p)
		return;
	vpt_counters.lost++;
	record_of(p)->error = -EIO;
	end_record(p);
}

void vpt_bio_arrived(struct bio *bio, u64 now_ns)
{
	/* If it is known, it ended unseen and its memory is in use again. */
	vpt_bio_lost(bio);
	/* A bare flush has no request: the block layer sends one of its own. */
	if (arrived == wanted || !bio_sectors(bio))
		return;
	*begin_record(bio) = (struct vpt_record){
		.arrival_ns = now_ns,
		.sector = bio->bi_iter.bi_sector,
		.sectors = bio_sectors(bio),
		.owner = current->pid,
		.flags = bio->bi_opf & REQ_META ? VPT_META : 0,
		.op = record_op(bio),
	};
}

/*
 * The block layer cut front off rest, which keeps its identity: both count as
 * arrivals of the same instant.
 */
void vpt_bio_split(struct bio *front, struct bio *rest)
{
	struct pending *p = find(rest);
	struct vpt_record *r;

	if (!p)
		return;
	r = record_of(p);
	r->sector = rest->bi_iter.bi_sector;
	r->sectors = bio_sectors(rest);
	if (arrived == wanted)
		return;
	r = begin_record(front);
	*r = *record_of(p);
	r->sector = front->bi_iter.bi_sector;
	r->sectors = bio_sectors(front);
}

static void complete_record(struct pending *p, const struct vpt_request *vr, int error,
			    u64 now_ns)
{
	struct vpt_record *r = record_of(p);

	if (vr) {
		r->pick_ns = vr->pick_ns;
		r->dispatch_ns = vr->dispatch_ns;
		r->due_ns = vr->due_ns;
		r->request_id = vr->id;
		r->model_service_ns = vr->model_service_ns;
		r->flags |= vr->flags;
		r->reason = vr->reason;
	}
	r->completion_ns = now_ns;
	r->error = error;
	end_record(p);
}

/* The first bytes of the request are done; a bio that they end is completed. */
void vpt_bios_completed(struct request *rq, struct vpt_request *vr, int error,
			unsigned int bytes, u64 now_ns)
{
	struct bio *bio;

	for (bio = rq->bio; bio && bytes >= bio->bi_iter.bi_size; bio = bio->bi_next) {
		struct pending *p = find(bio);

		bytes -= bio->bi_iter.bi_size;
		if (p)
			complete_record(p, vr, error, now_ns);
	}
}

void vpt_record_free(void)
{
	struct vpt_record *old_records = records;
	struct pending *old_pending = pending;
	unsigned long flags;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	hash_init(in_flight);
	records = NULL;
	pending = NULL;
	wanted = arrived = completed = 0;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	vfree(old_records);
	vfree(old_pending);
}

int vpt_record_start(u64 arrivals)
{
	struct vpt_record *new_records;
	struct pending *new_pending;
	unsigned long flags;

	vpt_record_free();
	new_records = vzalloc(array_size(arrivals, sizeof(*records)));
	new_pending = vzalloc(array_size(arrivals, sizeof(*pending)));
	if (!new_records || !new_pending) {
		vfree(new_records);
		vfree(new_pending);
		return -ENOMEM;
	}
	raw_spin_lock_irqsave(&vpt_lock, flags);
	records = new_records;
	pending = new_pending;
	wanted = arrivals;
	vpt_throttle_reset();
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	return 0;
}

void vpt_record_progress(u64 *wanted_, u64 *arrived_, u64 *completed_)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	*wanted_ = wanted;
	*arrived_ = arrived;
	*completed_ = completed;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

size_t vpt_record_bytes(void)
{
	return arrived * sizeof(*records);
}

const void *vpt_record_data(void)
{
	return records;
}
