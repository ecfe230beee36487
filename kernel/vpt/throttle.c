// SPDX-License-Identifier: GPL-2.0
/*
 * Computes service times and due times, and holds completions (Jones 2010 section 4.3).
 *
 * When the driver starts a request, the throttle gives the request to the modelled device
 * (core/drive/device.h).  The device either computes the due time, or puts the request into the
 * modelled drive's queue.  A queued request has no due time yet.  Before each new request, the
 * throttle computes which requests the drive has chosen from its queue until then.
 *
 * A completion that arrives before the due time is held, and a timer releases it in hard interrupt
 * context.  A completion that arrives after the due time is passed on at once and counted as late.
 *
 * Holding a request is safe for the following reason.  The driver has completed the request, so
 * while it is held, its state is MQ_RQ_COMPLETE.  Without the throttle, the request has this state
 * between blk_mq_complete_request and the soft interrupt that executes the completion.  So the
 * block layer and the drivers can handle the state.  A request in this state does not time out.  A
 * reset that cancels requests in flight skips a held request, and waits until the request is
 * completed (blk_mq_tagset_wait_completed_request).  Until then, neither the block layer nor a
 * driver ends the request, requeues it, or reuses its memory for another I/O.  So the memory still
 * holds the same request when the throttle releases the request, which happens after the throttle
 * has dropped the lock.
 *
 * The state is tested and set under the lock.  If a request is completed twice, only the first
 * completion counts.  The second completion is dropped, whether the request is still being held or
 * already released.
 *
 * A faulty driver may end or requeue a held request.  The throttle notices this at
 * block_rq_complete, block_rq_requeue or the next block_rq_issue.  It then removes the request from
 * the list of held requests, so the timer does not access it.
 */
#include <linux/blk-mq.h>
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "vpt.h"

/*
 * A timer's callback runs a little late.  So the timer is set earlier than the due time by about
 * this delay, and the callback spins until the due time.
 */
#define LEAD_NS 2000

/*
 * Marks a request as stale if there are more unfinished requests than the device accepts at once.
 * In this case the scheduler's choice becomes old while the request waits.
 */
static void mark_stale(struct vpt_disk *disk, struct vpt_request *vr)
{
	const struct timed_device *device = &disk->model.device;
	u64 takes = max3(device->drive.queue_depth, device->array.servers, 1ULL);

	if (disk->requests.nr_tracked > takes) {
		vr->flags |= VPT_STALE;
		disk->counters.stale++;
	}
}

void vpt_picked(struct vpt_disk *disk, struct request *rq, u64 now_ns, u8 reason)
{
	struct vpt_request *vr = vpt_find(disk, rq) ?: vpt_track(disk, rq);

	if (!vr || vr->state != VPT_PICKED)
		return;
	vr->pick_ns = now_ns;
	vr->reason = reason;
	vr->kept_back = disk->throttle.in_vain_ns > vpt_arrival_ns(disk, rq);
	mark_stale(disk, vr);
}

/* Ends the holding of a request, so that the timer does not release it. */
static void stop_holding(struct vpt_request *vr)
{
	if (vr->state != VPT_HELD)
		return;
	if (!vr->command.waits)
		list_del(&vr->held);
	vr->state = VPT_RELEASED;
}

static void insert_held(struct vpt_throttle *throttle, struct vpt_request *vr)
{
	struct vpt_request *before;

	list_for_each_entry_reverse(before, &throttle->held, held)
	{
		if (before->command.due_ns <= vr->command.due_ns)
			break;
	}
	list_add(&vr->held, &before->held);
}

/*
 * Lets the modelled drive choose requests from its queue, up to the time by_ns.  Each chosen
 * request gets its due time.
 */
static void choose_until(struct vpt_disk *disk, u64 by_ns)
{
	struct command *command;

	while ((command = device_next(&disk->model.device, by_ns))) {
		struct vpt_request *vr =
			container_of(command, struct vpt_request, command);

		if (vr->state == VPT_HELD)
			insert_held(&disk->throttle, vr);
	}
}

static u8 command_op(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return IO_READ;
	case REQ_OP_WRITE:
		return IO_WRITE;
	case REQ_OP_FLUSH:
		return COMMAND_FLUSH;
	default:
		return COMMAND_NOTHING;
	}
}

/*
 * Returns when the drive would have begun the request if kernel and throttle took no time.  This is
 * the request's arrival time or the previous request's due time, whichever is later.  If the
 * elevator deliberately delayed the request, the time of the pick is used instead of the arrival
 * time.  The time from this result to the issue is the overhead of kernel and throttle (Jones 2010
 * section 4.4.4: up to 2 ms).
 */
static u64 handed_over_ns(struct vpt_disk *disk, const struct vpt_request *vr,
			  u64 now_ns)
{
	const struct timed_device *device = &disk->model.device;
	u64 came_ns;

	if (!disk->model.subtract_overhead || !device_is_free(device))
		return now_ns;
	came_ns = vr->kept_back ? vr->pick_ns : vpt_arrival_ns(disk, vr->rq);
	return came_ns ? min(max(came_ns, device_free_ns(device)), now_ns) : now_ns;
}

static void give(struct vpt_disk *disk, struct vpt_request *vr, u64 now_ns)
{
	struct request *rq = vr->rq;
	u64 start_ns = handed_over_ns(disk, vr, now_ns);

	vr->command = (struct command){
		.sector = blk_rq_pos(rq),
		.sectors = blk_rq_sectors(rq),
		.op = command_op(rq),
		.through = req_op(rq) == REQ_OP_WRITE && rq->cmd_flags & REQ_FUA,
	};
	disk->counters.overhead_ns += now_ns - start_ns;
	/*
	 * If k is too small, the request will be late, but its due time is never before its issue.
	 */
	device_give_late(&disk->model.device, &vr->command, start_ns, now_ns);
}

/*
 * A request's service starts when the request is first issued.  After a requeue the tracepoint
 * fires again for the request.
 */
void vpt_issued(struct vpt_disk *disk, struct request *rq, u64 now_ns)
{
	struct vpt_throttle *throttle = &disk->throttle;
	struct vpt_request *vr = vpt_find(disk, rq);

	if (!vr) {
		vr = vpt_track(disk, rq);
		if (!vr)
			return;
		vr->pick_ns = now_ns;
		disk->counters.pick_unseen++;
		mark_stale(disk, vr);
	}
	stop_holding(vr);
	if (vr->state != VPT_PICKED)
		return;
	vr->state = VPT_ISSUED;
	vr->id = ++throttle->last_id;
	vr->dispatch_ns = now_ns;
	choose_until(disk, now_ns);
	give(disk, vr, now_ns);
	disk->requests.on_disk++;
	disk->counters.requests++;
}

void vpt_requeued(struct vpt_disk *disk, struct request *rq)
{
	struct vpt_request *vr = vpt_find(disk, rq);

	if (vr)
		stop_holding(vr);
}

void vpt_finished(struct vpt_disk *disk, struct vpt_request *vr, bool failed)
{
	stop_holding(vr);
	device_withdraw(&disk->model.device, &vr->command);
	if (vr->state != VPT_PICKED) {
		disk->counters.completed += !failed;
		disk->counters.failed += failed;
		disk->requests.on_disk--;
	}
	if (vr->state == VPT_ISSUED)
		disk->counters.missed++;
	vpt_untrack(disk, vr);
}

/* Returns when the timer must run next, or U64_MAX if it need not run. */
static u64 next_event_ns(struct vpt_disk *disk)
{
	const struct vpt_request *first = list_first_entry_or_null(
		&disk->throttle.held, struct vpt_request, held);
	u64 choice_ns = device_next_ns(&disk->model.device);

	return first ? min(first->command.due_ns, choice_ns) : choice_ns;
}

static void arm_timer(struct vpt_disk *disk)
{
	u64 event_ns = next_event_ns(disk);

	if (event_ns != U64_MAX)
		hrtimer_start(&disk->throttle.timer, ns_to_ktime(event_ns - LEAD_NS),
			      HRTIMER_MODE_ABS);
}

/*
 * Turns off polling for a held request.  The request will complete in a hard interrupt.  A polled
 * bio must not be freed there, because the cache of such bios belongs to the polling task.
 */
static void end_polling(struct request *rq)
{
	struct bio *bio;

	__rq_for_each_bio (bio, rq)
		bio_clear_polled(bio);
}

static void hold(struct vpt_disk *disk, struct vpt_request *vr)
{
	struct vpt_throttle *throttle = &disk->throttle;

	end_polling(vr->rq);
	vr->state = VPT_HELD;
	disk->counters.held++;
	if (!vr->command.waits)
		insert_held(throttle, vr);
	if (vr->command.waits || list_is_first(&vr->held, &throttle->held))
		arm_timer(disk);
}

static void pass_on(struct vpt_disk *disk, struct vpt_request *vr, u64 now_ns)
{
	vr->state = VPT_RELEASED;
	if (!vr->command.waits && now_ns > vr->command.due_ns) {
		vr->flags |= VPT_LATE;
		disk->counters.late++;
	}
}

/*
 * Called when the driver completes the request.  Returns true if the driver must not complete the
 * request: the throttle will do so, or the request was completed before.
 */
static bool take(struct vpt_disk *disk, struct vpt_request *vr)
{
	u64 now_ns;

	if (blk_mq_request_completed(vr->rq))
		return true;
	blk_mq_set_request_complete(vr->rq);
	if (vr->state != VPT_ISSUED)
		return false;
	now_ns = ktime_get_ns();
	choose_until(disk, now_ns);
	if (disk->throttle.holding &&
	    (vr->command.waits || now_ns < vr->command.due_ns))
		hold(disk, vr);
	else
		pass_on(disk, vr, now_ns);
	if (disk->throttle.holding)
		vpt_judged(disk, vr);
	return vr->state == VPT_HELD;
}

bool vpt_hold(struct vpt_disk *disk, struct request *rq)
{
	struct vpt_request *vr;
	unsigned long flags;
	bool taken;

	raw_spin_lock_irqsave(&disk->lock, flags);
	vr = vpt_find(disk, rq);
	taken = vr && take(disk, vr);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return taken;
}

/* Removes and returns the first held request if it is due at the time by_ns, else returns NULL. */
static struct vpt_request *take_due(struct vpt_throttle *throttle, u64 by_ns)
{
	struct vpt_request *vr =
		list_first_entry_or_null(&throttle->held, struct vpt_request, held);

	if (!vr || vr->command.due_ns > by_ns)
		return NULL;
	stop_holding(vr);
	return vr;
}

static void count_overshoot(struct vpt_counters *counters, u64 overshoot_ns)
{
	counters->overshoot_ns += overshoot_ns;
	counters->overshoot_max_ns = max(counters->overshoot_max_ns, overshoot_ns);
}

static enum hrtimer_restart release_due(struct hrtimer *timer)
{
	struct vpt_disk *disk = container_of(timer, struct vpt_disk, throttle.timer);
	struct vpt_throttle *throttle = &disk->throttle;
	struct vpt_request *vr;
	struct request *rq;
	unsigned long flags;
	u64 event_ns, now_ns;

	for (;;) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		event_ns = next_event_ns(disk);
		if (event_ns > ktime_get_ns() + LEAD_NS)
			break;
		do
			now_ns = ktime_get_ns();
		while (now_ns < event_ns);
		choose_until(disk, now_ns);
		vr = take_due(throttle, now_ns);
		rq = vr ? vr->rq : NULL;
		if (vr)
			count_overshoot(&disk->counters, now_ns - vr->command.due_ns);
		raw_spin_unlock_irqrestore(&disk->lock, flags);
		if (rq)
			throttle->complete(rq);
	}
	arm_timer(disk);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return HRTIMER_NORESTART;
}

u64 vpt_positioning_ns(struct vpt_disk *disk, const struct io_request *io, u64 now_ns)
{
	if (disk->model.device.servers.nr)
		return 0;
	choose_until(disk, now_ns);
	return device_positioning_ns(&disk->model.device, io, now_ns);
}

void vpt_start_holding(struct vpt_disk *disk)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_throttle_reset(disk);
	disk->throttle.holding = true;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

void vpt_release_all(struct vpt_disk *disk)
{
	struct vpt_throttle *throttle = &disk->throttle;
	struct vpt_request *vr;
	struct request *rq;
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	throttle->holding = false;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	hrtimer_cancel(&throttle->timer);

	/* Drivers expect completions to run with interrupts off, as in the timer's callback. */
	raw_spin_lock_irqsave(&disk->lock, flags);
	choose_until(disk, U64_MAX);
	while ((vr = take_due(throttle, U64_MAX))) {
		rq = vr->rq;
		raw_spin_unlock(&disk->lock);
		throttle->complete(rq);
		raw_spin_lock(&disk->lock);
	}
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

void vpt_forget_all(struct vpt_disk *disk)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	choose_until(disk, U64_MAX);
	vpt_untrack_all(disk);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

/*
 * Resets the throttle.  Requests on the disk stay there, but the modelled drive is not busy with
 * them.
 */
void vpt_throttle_reset(struct vpt_disk *disk)
{
	choose_until(disk, U64_MAX);
	/*
	 * The modelled drive is free from now on.  The service of a request that waits in the
	 * elevator begins after this time.
	 */
	device_restart(&disk->model.device, disk->throttle.free_ns, ktime_get_ns());
	memset(&disk->counters, 0, sizeof(disk->counters));
	memset(&disk->scaling, 0, sizeof(disk->scaling));
	/* these will still complete */
	disk->counters.requests = disk->requests.on_disk;
	disk->throttle.last_id = 0;
}

/*
 * The mode is not ..._HARD.  Without PREEMPT_RT this makes no difference.  With PREEMPT_RT,
 * releasing a request takes drivers' spinlocks, which is not allowed in a hard interrupt.
 */
void vpt_throttle_init(struct vpt_disk *disk)
{
	INIT_LIST_HEAD(&disk->throttle.held);
	hrtimer_init(&disk->throttle.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	disk->throttle.timer.function = release_due;
}
