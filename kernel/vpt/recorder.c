// SPDX-License-Identifier: GPL-2.0
/*
 * Records the arrival, pick, dispatch, due time and completion of each bio.  To keep the overhead
 * low, the buffer is allocated before the run and read after the run.  PERFORM 2010, section 5,
 * stored the time stamps in a static kernel array for the same reason.
 *
 * A measurement covers the first N bios that arrive after its start.  The measurement is over when
 * all N bios have completed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "vpt.h"
#include "../iosched/owner.h"

/*
 * An entry for a bio in flight.  The entry and the bio's record have the same index in their
 * buffers.
 */
struct vpt_pending {
	struct hlist_node by_bio;
	struct bio *bio; /* NULL: completed */
};

static struct vpt_pending *find(struct vpt_recorder *recorder, const struct bio *bio)
{
	struct vpt_pending *p;

	hash_for_each_possible (recorder->in_flight, p, by_bio, (unsigned long)bio) {
		if (p->bio == bio)
			return p;
	}
	return NULL;
}

static struct vpt_record *record_of(struct vpt_recorder *recorder,
				    const struct vpt_pending *p)
{
	return &recorder->records[p - recorder->pending];
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

static void end_record(struct vpt_recorder *recorder, struct vpt_pending *p)
{
	hash_del(&p->by_bio);
	p->bio = NULL;
	recorder->completed++;
}

static struct vpt_record *begin_record(struct vpt_recorder *recorder, struct bio *bio)
{
	struct vpt_pending *p = &recorder->pending[recorder->arrived++];

	p->bio = bio;
	hash_add(recorder->in_flight, &p->by_bio, (unsigned long)bio);
	return record_of(recorder, p);
}

u64 vpt_arrival_ns(struct vpt_disk *disk, const struct request *rq)
{
	struct vpt_pending *p = rq->bio ? find(&disk->recorder, rq->bio) : NULL;

	return p ? record_of(&disk->recorder, p)->arrival_ns : rq->start_time_ns;
}

void vpt_bio_lost(struct vpt_disk *disk, struct bio *bio)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct vpt_pending *p = find(recorder, bio);

	if (!p)
		return;
	disk->counters.lost++;
	record_of(recorder, p)->error = -EIO;
	end_record(recorder, p);
}

/*
 * Deletes the record of a bio, as if the bio had never arrived.  All later records move up by one.
 */
static void withdraw(struct vpt_recorder *recorder, struct vpt_pending *p)
{
	struct vpt_pending *last = &recorder->pending[--recorder->arrived];

	hash_del(&p->by_bio);
	for (; p < last; p++) {
		*record_of(recorder, p) = *record_of(recorder, p + 1);
		p->bio = p[1].bio;
		if (!p->bio)
			continue;
		hash_del(&p[1].by_bio);
		hash_add(recorder->in_flight, &p->by_bio, (unsigned long)p->bio);
	}
	last->bio = NULL;
}

void vpt_bio_ended(struct vpt_disk *disk, struct bio *bio)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct vpt_pending *p = find(recorder, bio);

	if (p && bio->bi_status == BLK_STS_AGAIN)
		withdraw(recorder, p);
	else
		vpt_bio_lost(disk, bio);
}

void vpt_bio_arrived(struct vpt_disk *disk, struct bio *bio, u64 now_ns)
{
	struct vpt_recorder *recorder = &disk->recorder;

	/*
	 * If the bio already has a record, that record is of an earlier bio, which ended unseen and
	 * whose memory was reused.
	 */
	vpt_bio_lost(disk, bio);
	/* A bare flush is not recorded: the block layer sends a separate request for it. */
	if (recorder->arrived == recorder->wanted || !bio_sectors(bio))
		return;
	*begin_record(recorder, bio) = (struct vpt_record){
		.arrival_ns = now_ns,
		.sector = bio->bi_iter.bi_sector,
		.sectors = bio_sectors(bio),
		.owner = disk->model.record_groups ? owner_group(bio) : current->pid,
		.flags = bio->bi_opf & REQ_META ? VPT_META : 0,
		.op = record_op(bio),
	};
}

/*
 * Called when the block layer has split `front` off `rest`.  `rest` keeps the record.  Both bios
 * count as having arrived at the same time.
 */
void vpt_bio_split(struct vpt_disk *disk, struct bio *front, struct bio *rest)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct vpt_pending *p = find(recorder, rest);
	struct vpt_record *r;

	if (!p)
		return;
	r = record_of(recorder, p);
	r->sector = rest->bi_iter.bi_sector;
	r->sectors = bio_sectors(rest);
	if (recorder->arrived == recorder->wanted)
		return;
	r = begin_record(recorder, front);
	*r = *record_of(recorder, p);
	r->sector = front->bi_iter.bi_sector;
	r->sectors = bio_sectors(front);
}

static void describe(struct vpt_record *r, const struct vpt_request *vr)
{
	r->pick_ns = vr->pick_ns;
	r->dispatch_ns = vr->dispatch_ns;
	r->due_ns = vr->command.due_ns;
	r->request_id = vr->id;
	r->model_service_ns = vr->command.service_ns;
	r->flags |= vr->flags | (vr->command.hit ? VPT_HIT : 0);
	r->reason = vr->reason;
}

/*
 * A write may need a flush before it, or after it on a disk without FUA.  block_rq_complete then
 * fires twice for this write.  It fires when the data are written, with the mark RQF_FLUSH_SEQ, and
 * again when the last flush is done and the bio ends.  The service times are taken at the first
 * event, and the completion time at the second.
 */
void vpt_bios_served(struct vpt_disk *disk, struct request *rq,
		     const struct vpt_request *vr)
{
	struct bio *bio;

	for (bio = rq->bio; bio && vr; bio = bio->bi_next) {
		struct vpt_pending *p = find(&disk->recorder, bio);

		if (p)
			describe(record_of(&disk->recorder, p), vr);
	}
}

/*
 * Called when the first `bytes` bytes of the request are done.  Completes each bio that ends within
 * these bytes.
 */
void vpt_bios_completed(struct vpt_disk *disk, struct request *rq,
			const struct vpt_request *vr, int error, unsigned int bytes,
			u64 now_ns)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct bio *bio;

	for (bio = rq->bio; bio && bytes >= bio->bi_iter.bi_size; bio = bio->bi_next) {
		struct vpt_pending *p = find(recorder, bio);

		bytes -= bio->bi_iter.bi_size;
		if (!p)
			continue;
		if (vr)
			describe(record_of(recorder, p), vr);
		record_of(recorder, p)->completion_ns = now_ns;
		record_of(recorder, p)->error = error;
		end_record(recorder, p);
	}
}

void vpt_record_free(struct vpt_disk *disk)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct vpt_record *records = recorder->records;
	struct vpt_pending *pending = recorder->pending;
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	memset(recorder, 0, sizeof(*recorder));
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	vfree(records);
	vfree(pending);
}

/*
 * Allocates a buffer.  Ten million records need a gigabyte.  If memory is short, the allocation
 * must fail and must not make the OOM killer kill a process.  So this check refuses early, and
 * leaves some memory for other allocations.
 */
static bool is_available(u64 bytes)
{
	u64 available = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;

	if (bytes <= available)
		return true;
	pr_err("recording takes %llu MiB of memory, and %llu MiB are available\n",
	       bytes >> 20, available >> 20);
	return false;
}

static void *zeroed(u64 bytes)
{
	return __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL |
					__GFP_NOWARN);
}

int vpt_record_prepare(struct vpt_disk *disk, u64 arrivals)
{
	struct vpt_recorder *recorder = &disk->recorder;
	struct vpt_record *records;
	struct vpt_pending *pending;
	unsigned long flags;

	vpt_record_free(disk);
	if (!is_available(arrivals * (sizeof(*records) + sizeof(*pending))))
		return -ENOMEM;
	records = zeroed(arrivals * sizeof(*records));
	pending = zeroed(arrivals * sizeof(*pending));
	if (!records || !pending) {
		vfree(records);
		vfree(pending);
		return -ENOMEM;
	}
	raw_spin_lock_irqsave(&disk->lock, flags);
	recorder->records = records;
	recorder->pending = pending;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return 0;
}

size_t vpt_record_bytes(const struct vpt_disk *disk)
{
	return disk->recorder.arrived * sizeof(*disk->recorder.records);
}
