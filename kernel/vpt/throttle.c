// SPDX-License-Identifier: GPL-2.0
/*
 * Service times, due times and held completions (Jones 2010 section 4.3).
 *
 * The disk that stands in serves one request at a time: a request starts when
 * the driver starts it or when the one before it is due, whichever is later, and
 * is due scale * (model service time) after that.  A completion that comes
 * earlier is held until a timer, in hard interrupt context, lets it go; one that
 * comes later is passed on and counted as late.
 */
#include <linux/blk-mq.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "vpt.h"

/* Picked and not yet finished at once; more are counted as untracked. */
#define REQUESTS_MAX 4096
#define HASH_BITS_RQ 8
/*
 * A timer's callback runs a little after its time.  So the timer is set early by
 * about that much, and what is left is spun away.
 */
#define LEAD_NS 2000

DEFINE_RAW_SPINLOCK(vpt_lock);
struct drive vpt_drive;
struct vpt_counters vpt_counters;
u64 vpt_scale_milli = 1000;

static struct vpt_request *pool;
static struct hlist_head unused;
static DEFINE_HASHTABLE(tracked, HASH_BITS_RQ);
static LIST_HEAD(held);
static struct hrtimer release_timer;
static bool holding;
static u64 last_id;
static u64 last_due_ns;
static u32 nr_tracked; /* picked and not yet finished */
static u32 on_disk; /* of these, issued */

struct vpt_request *vpt_find(const struct request *rq)
{
	struct vpt_request *vr;

	hash_for_each_possible (tracked, vr, by_rq, (unsigned long)rq) {
		if (vr->rq == rq)
			return vr;
	}
	return NULL;
}

static struct vpt_request *track(struct request *rq)
{
	struct vpt_request *vr;

	if (hlist_empty(&unused)) {
		vpt_counters.untracked++;
		return NULL;
	}
	vr = hlist_entry(unused.first, struct vpt_request, by_rq);
	hlist_del(&vr->by_rq);
	memset(vr, 0, sizeof(*vr));
	vr->rq = rq;
	hash_add(tracked, &vr->by_rq, (unsigned long)rq);
	nr_tracked++;
	return vr;
}

/* Others that were picked before it are not finished: the choice will have aged. */
static void mark_stale(struct vpt_request *vr)
{
	if (nr_tracked > 1) {
		vr->flags |= VPT_STALE;
		vpt_counters.stale++;
	}
}

void vpt_picked(struct request *rq, u64 now_ns, u8 reason)
{
	struct vpt_request *vr = vpt_find(rq) ?: track(rq);

	if (!vr || vr->state != VPT_PICKED)
		return;
	vr->pick_ns = now_ns;
	vr->reason = reason;
	mark_stale(vr);
}

static u64 model_service_ns(struct vpt_request *vr)
{
	struct request *rq = vr->rq;
	bool hit = false;
	u64 ns;

	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return 0;
	ns = drive_serve(&vpt_drive, req_op(rq) == REQ_OP_READ ? IO_READ : IO_WRITE,
			 blk_rq_pos(rq), blk_rq_sectors(rq), &hit);
	if (hit)
		vr->flags |= VPT_HIT;
	return ns;
}

/* The first issue starts the service; after a requeue it fires again. */
void vpt_issued(struct request *rq, u64 now_ns)
{
	struct vpt_request *vr = vpt_find(rq);

	if (!vr) {
		vr = track(rq);
		if (!vr)
			return;
		vr->pick_ns = now_ns;
		vpt_counters.pick_unseen++;
		mark_stale(vr);
	}
	if (vr->state != VPT_PICKED)
		return;
	vr->state = VPT_ISSUED;
	vr->id = ++last_id;
	vr->dispatch_ns = now_ns;
	vr->model_service_ns = model_service_ns(vr);
	vr->due_ns = max(now_ns, last_due_ns) +
		     div_u64(vr->model_service_ns * vpt_scale_milli, 1000);
	last_due_ns = vr->due_ns;
	on_disk++;
	vpt_counters.requests++;
}

static void insert_held(struct vpt_request *vr)
{
	struct vpt_request *before;

	list_for_each_entry_reverse(before, &held, held)
	{
		if (before->due_ns <= vr->due_ns)
			break;
	}
	list_add(&vr->held, &before->held);
}

static void arm_timer(void)
{
	struct vpt_request *first = list_first_entry(&held, struct vpt_request, held);

	hrtimer_start(&release_timer, ns_to_ktime(first->due_ns - LEAD_NS),
		      HRTIMER_MODE_ABS_HARD);
}

bool vpt_hold(struct request *rq)
{
	struct vpt_request *vr;
	unsigned long flags;
	bool hold = false;
	u64 now_ns;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	vr = vpt_find(rq);
	if (!vr || vr->state != VPT_ISSUED)
		goto out;
	now_ns = ktime_get_ns();
	hold = holding && now_ns < vr->due_ns;
	if (!hold) {
		vr->state = VPT_RELEASED;
		if (now_ns > vr->due_ns) {
			vr->flags |= VPT_LATE;
			vpt_counters.late++;
		}
		goto out;
	}
	vr->state = VPT_HELD;
	insert_held(vr);
	vpt_counters.held++;
	if (list_is_first(&vr->held, &held))
		arm_timer();
out:
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	return hold;
}

/* The next held request that is due by then, or NULL. */
static struct vpt_request *take_due(u64 by_ns)
{
	struct vpt_request *vr =
		list_first_entry_or_null(&held, struct vpt_request, held);

	if (!vr || vr->due_ns > by_ns)
		return NULL;
	list_del(&vr->held);
	vr->state = VPT_RELEASED;
	return vr;
}

static void count_overshoot(u64 overshoot_ns)
{
	vpt_counters.overshoot_ns += overshoot_ns;
	vpt_counters.overshoot_max_ns =
		max(vpt_counters.overshoot_max_ns, overshoot_ns);
}

static enum hrtimer_restart release_due(struct hrtimer *timer)
{
	struct vpt_request *vr;
	struct request *rq;
	unsigned long flags;
	u64 now_ns;

	for (;;) {
		raw_spin_lock_irqsave(&vpt_lock, flags);
		vr = take_due(ktime_get_ns() + LEAD_NS);
		if (!vr)
			break;
		do
			now_ns = ktime_get_ns();
		while (now_ns < vr->due_ns);
		count_overshoot(now_ns - vr->due_ns);
		rq = vr->rq;
		raw_spin_unlock_irqrestore(&vpt_lock, flags);
		vpt_complete(rq);
	}
	if (!list_empty(&held))
		arm_timer();
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	return HRTIMER_NORESTART;
}

void vpt_start_holding(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	holding = true;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

void vpt_release_all(void)
{
	struct vpt_request *vr;
	struct request *rq;
	unsigned long flags;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	holding = false;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	hrtimer_cancel(&release_timer);

	/* Drivers expect completions with interrupts off, as from the timer. */
	raw_spin_lock_irqsave(&vpt_lock, flags);
	while ((vr = take_due(U64_MAX))) {
		rq = vr->rq;
		raw_spin_unlock(&vpt_lock);
		vpt_complete(rq);
		raw_spin_lock(&vpt_lock);
	}
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

static void untrack(struct vpt_request *vr)
{
	hash_del(&vr->by_rq);
	nr_tracked--;
	vr->rq = NULL;
	hlist_add_head(&vr->by_rq, &unused);
}

void vpt_forget_all(void)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	for (i = 0; i < REQUESTS_MAX; i++) {
		if (pool[i].rq)
			untrack(&pool[i]);
	}
	on_disk = 0;
	last_due_ns = 0;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

void vpt_finished(struct vpt_request *vr, bool failed)
{
	if (vr->state != VPT_PICKED) {
		vpt_counters.completed += !failed;
		vpt_counters.failed += failed;
		on_disk--;
	}
	if (vr->state == VPT_ISSUED)
		vpt_counters.missed++;
	untrack(vr);
}

void vpt_throttle_reset(void)
{
	drive_reset(&vpt_drive);
	memset(&vpt_counters, 0, sizeof(vpt_counters));
	vpt_counters.requests = on_disk; /* they will complete */
	last_id = 0;
}

int vpt_throttle_init(void)
{
	u32 i;

	pool = kvcalloc(REQUESTS_MAX, sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;
	for (i = 0; i < REQUESTS_MAX; i++)
		hlist_add_head(&pool[i].by_rq, &unused);
	hrtimer_init(&release_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	release_timer.function = release_due;
	return 0;
}

void vpt_throttle_exit(void)
{
	hrtimer_cancel(&release_timer);
	kvfree(pool);
}
