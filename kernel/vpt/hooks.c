// SPDX-License-Identifier: GPL-2.0
/*
 * The throttle's hooks in the block layer:
 *
 *	arrival     tracepoint block_bio_queue (and block_split)
 *	pick        iprobe on the elevator's dispatch function (picks.c)
 *	dispatch    tracepoint block_rq_issue: the driver fires it as it starts a request
 *	up path     iprobes on blk_mq_complete_request and ..._remote: every driver that
 *	            completes from an interrupt calls one of them
 *	completion  tracepoint block_rq_complete (or block_bio_complete: no request)
 *	requeue     tracepoint block_rq_requeue
 *
 * The tracepoints and functions are shared by all disks, so the hooks see every disk's requests.  A
 * hook looks up the throttled disk by the request's queue, in a hash table.  The table is read
 * under RCU, so disks share no lock here.  The hooks exist while any disk is throttled (for the
 * hooks on elevators see picks.c).  When a disk is removed, it is first removed from the hash
 * table.  After a grace period, no hook uses the disk any more: tracepoints run with preemption
 * off, and the replacement functions use a disk only inside the rcu_read_lock section in which they
 * looked it up.
 *
 * Locking: hooks_mutex is taken while the mutex of the list of disks (disks.c) or a disk's mutex
 * `control` is held.  While hooks_mutex is held, the hooks take only the locks of iprobe and of the
 * tracepoints.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>

#include "vpt.h"
#include "../iprobe/iprobe.h"
#include "../iosched/compat.h"
#include "../iosched/pick.h"

static DEFINE_MUTEX(hooks_mutex);
static u32 nr_hooked;

static struct vpt_disk *disk_of_bio(const struct bio *bio)
{
	return vpt_disk_of_queue(bdev_get_queue(bio->bi_bdev));
}

/*
 * A positioning_fn for the project's schedulers.  They call this function with their own lock held.
 */
static u64 positioning_ns(void *queue, const struct io_request *rq, u64 now_ns)
{
	struct vpt_disk *disk;
	unsigned long flags;
	u64 ns = 0;

	rcu_read_lock();
	disk = vpt_disk_of_queue(queue);
	if (disk) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		ns = vpt_positioning_ns(disk, rq, now_ns);
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	rcu_read_unlock();
	return ns;
}

positioning_fn *vpt_model_of(struct request_queue *q)
{
	struct vpt_disk *disk;
	bool is_drive;

	rcu_read_lock();
	disk = vpt_disk_of_queue(q);
	is_drive = disk && !READ_ONCE(disk->model.device.array.servers);
	rcu_read_unlock();
	return is_drive ? positioning_ns : NULL;
}
EXPORT_SYMBOL_GPL(vpt_model_of);

static void on_bio_queue(void *data, struct bio *bio)
{
	struct vpt_disk *disk = disk_of_bio(bio);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_bio_arrived(disk, bio, ktime_get_ns());
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

/* Called when `front` was split off a bio.  front->bi_private is the remaining bio. */
static void on_split(void *data, struct bio *front, unsigned int new_sector)
{
	struct vpt_disk *disk = disk_of_bio(front);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_bio_split(disk, front, front->bi_private);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

/* Called only when a bio has ended without a request. */
static void on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct vpt_disk *disk = vpt_disk_of_queue(q);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_bio_ended(disk, bio);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static void on_rq_issue(void *data, struct request *rq)
{
	struct vpt_disk *disk = vpt_disk_of_request(rq);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_issued(disk, rq, ktime_get_ns());
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static void on_rq_requeue(void *data, struct request *rq)
{
	struct vpt_disk *disk = vpt_disk_of_request(rq);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_requeued(disk, rq);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static void on_rq_complete(void *data, struct request *rq, blk_status_t status,
			   unsigned int bytes)
{
	struct vpt_disk *disk = vpt_disk_of_request(rq);
	struct vpt_request *vr;
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vr = vpt_find(disk, rq);
	if (rq->rq_flags & RQF_FLUSH_SEQ)
		vpt_bios_served(disk, rq, vr);
	else
		vpt_bios_completed(disk, rq, vr, blk_status_to_errno(status), bytes,
				   ktime_get_ns());
	if (vr && bytes >= blk_rq_bytes(rq))
		vpt_finished(disk, vr, status != BLK_STS_OK);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint; /* NULL: this kernel does not have it */
	bool registered;
};

/*
 * The hooks, in the order of registration.  The throttle may see the end of a request without its
 * beginning, but must not see its beginning without its end.  So the hooks that see the end of a
 * request are registered first.
 */
static struct hook hooks[] = {
	{ .name = "block_rq_complete", .probe = on_rq_complete },
	{ .name = "block_rq_requeue", .probe = on_rq_requeue },
	{ .name = "block_rq_issue", .probe = on_rq_issue },
	{ .name = "block_bio_complete", .probe = on_bio_complete },
	{ .name = "block_bio_queue", .probe = on_bio_queue },
	{ .name = "block_split", .probe = on_split },
};

static void find_tracepoint(struct tracepoint *tp, void *data)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tracepoint = tp;
	}
}

static void unregister_tracepoints(void)
{
	u32 i = ARRAY_SIZE(hooks);

	while (i--) {
		if (hooks[i].registered)
			tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].probe,
						    NULL);
		hooks[i].registered = false;
	}
	tracepoint_synchronize_unregister();
}

static int register_tracepoints(void)
{
	u32 i;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		int ret = -ENOENT;

		if (hooks[i].tracepoint)
			ret = tracepoint_probe_register(hooks[i].tracepoint,
							hooks[i].probe, NULL);
		if (ret) {
			pr_err("tracepoint %s: error %d\n", hooks[i].name, ret);
			unregister_tracepoints();
			return ret;
		}
		hooks[i].registered = true;
	}
	return 0;
}

/* The up path. */

static bool completes_ours(struct iprobe *probe, struct pt_regs *regs)
{
	struct request *rq = (struct request *)regs->di;

	return !blk_rq_is_passthrough(rq) && vpt_is_throttled(rq->q);
}

static void hold_complete(struct request *rq);
static bool hold_complete_remote(struct request *rq);

static struct iprobe complete_probe = {
	.symbol = "blk_mq_complete_request",
	.replacement = hold_complete,
	.decide = completes_ours,
};

static struct iprobe complete_remote_probe = {
	.symbol = "blk_mq_complete_request_remote",
	.replacement = hold_complete_remote,
	.decide = completes_ours,
};

/*
 * Does what blk_mq_complete_request does.  The original of that function can't be called: it calls
 * blk_mq_complete_request_remote, and the hook on that function would drop the request, because the
 * request is already marked as complete.
 */
static void complete_now(struct request *rq)
{
	bool (*original)(struct request *) = complete_remote_probe.original;

	if (!original(rq))
		rq->q->mq_ops->complete(rq);
}

/*
 * Returns whether the throttle holds the request.  Returns false if the disk is no longer
 * throttled.
 */
static bool is_held(struct request *rq)
{
	struct vpt_disk *disk;
	bool held;

	rcu_read_lock();
	disk = vpt_disk_of_request(rq);
	held = disk && vpt_hold(disk, rq);
	rcu_read_unlock();
	return held;
}

static void hold_complete(struct request *rq)
{
	if (!is_held(rq))
		complete_now(rq);
	iprobe_done(&complete_probe);
}

/* Returns true if the driver need not complete the request. */
static bool hold_complete_remote(struct request *rq)
{
	bool (*original)(struct request *) = complete_remote_probe.original;
	bool elsewhere = is_held(rq) || original(rq);

	iprobe_done(&complete_remote_probe);
	return elsewhere;
}

static int hook_up_path(void)
{
	int ret = iprobe_register(&complete_remote_probe);

	if (ret)
		return ret;
	ret = iprobe_register(&complete_probe);
	if (ret)
		iprobe_unregister(&complete_remote_probe);
	return ret;
}

static void unhook_up_path(void)
{
	iprobe_unregister(&complete_probe);
	iprobe_unregister(&complete_remote_probe);
}

/* The hooks for the pick (picks.c). */

int vpt_rehook_elevator(struct vpt_disk *disk)
{
	struct module *owner;
	unsigned long dispatch =
		(unsigned long)elevator_dispatch_get(disk->queue, &owner);
	int ret;

	mutex_lock(&hooks_mutex);
	ret = vpt_watch_elevator(disk, dispatch);
	mutex_unlock(&hooks_mutex);
	module_put(owner); /* from here on, iprobe notices if the module is unloaded */
	return ret;
}

/* Sets the hooks that all disks share.  Called for the first disk. */
static int hook_all(void)
{
	/*
	 * The hooks on the up path are set first, so that every request can be held whose issue is
	 * seen.
	 */
	int ret = hook_up_path();

	if (ret)
		return ret;
	ret = register_tracepoints();
	if (ret)
		unhook_up_path();
	return ret;
}

static void unhook_all(void)
{
	unhook_up_path();
	unregister_tracepoints();
}

int vpt_hook(struct vpt_disk *disk)
{
	int ret = 0;

	disk->throttle.complete = complete_now;
	mutex_lock(&hooks_mutex);
	if (!nr_hooked)
		ret = hook_all();
	if (!ret) {
		nr_hooked++;
		vpt_queue_add(disk);
	}
	mutex_unlock(&hooks_mutex);
	if (ret)
		return ret;
	ret = vpt_rehook_elevator(disk);
	if (ret)
		vpt_unhook(disk);
	return ret;
}

void vpt_unhook(struct vpt_disk *disk)
{
	mutex_lock(&hooks_mutex);
	vpt_watch_elevator(disk, 0);
	vpt_queue_remove(disk);
	if (!--nr_hooked)
		unhook_all();
	mutex_unlock(&hooks_mutex);
	synchronize_rcu();
}
