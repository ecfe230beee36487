// SPDX-License-Identifier: GPL-2.0
/*
 * The probes on elevators, which show when a scheduler picks a request.  Each dispatch function has
 * one probe, which is shared by all throttled disks with that elevator.  hooks.c calls these
 * functions with hooks_mutex held.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "vpt.h"
#include "../iosched/pick.h"
#include "../iprobe/iprobe.h"

/* The probe on an elevator's dispatch function. */
struct vpt_watch {
	struct list_head among_watches;
	struct iprobe probe;
	u32 disks; /* disks that use this watch */
};

static LIST_HEAD(watches);

/*
 * The replacement function can't find the probe through the queue, since the queue's elevator may
 * have changed since the call.  So the probe is passed as a second argument.  This is
 * possible because the dispatch function has only one argument, and because functions may overwrite
 * the register of a second argument.
 */
static bool picks_for_ours(struct iprobe *probe, struct pt_regs *regs)
{
	const struct blk_mq_hw_ctx *hctx = (struct blk_mq_hw_ctx *)regs->di;

	regs->si = (unsigned long)probe;
	return vpt_is_throttled(hctx->queue);
}

static void pick_seen(struct request *rq)
{
	struct vpt_disk *disk;
	unsigned long flags;

	rcu_read_lock();
	disk = vpt_disk_of_request(rq);
	if (disk) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		vpt_picked(disk, rq, ktime_get_ns(), pick_reason_get(rq));
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	rcu_read_unlock();
}

/*
 * Called when the elevator returned no request.  This matters only while no request is tracked,
 * since the disk could accept a request only then.
 */
static void none_picked(struct request_queue *queue)
{
	struct vpt_disk *disk;
	unsigned long flags;

	rcu_read_lock();
	disk = vpt_disk_of_queue(queue);
	if (disk) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		if (!disk->requests.nr_tracked)
			disk->throttle.in_vain_ns = ktime_get_ns();
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	rcu_read_unlock();
}

static struct request *watch_dispatch(struct blk_mq_hw_ctx *hctx, struct iprobe *probe)
{
	struct request *(*original)(struct blk_mq_hw_ctx *) = probe->original;
	struct request *rq = original(hctx);

	if (rq)
		pick_seen(rq);
	else
		none_picked(hctx->queue);
	iprobe_done(probe);
	return rq;
}

/*
 * Returns whether the watch is on this dispatch function.  If the module with the function was
 * unloaded, the probe is no longer registered.
 */
static bool watches_it(const struct vpt_watch *watch, unsigned long dispatch)
{
	return watch && watch->probe.address == dispatch &&
	       iprobe_registered(&watch->probe);
}

static struct vpt_watch *watch_new(unsigned long dispatch)
{
	struct vpt_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	int ret;

	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->probe.address = dispatch;
	watch->probe.replacement = watch_dispatch;
	watch->probe.decide = picks_for_ours;
	ret = iprobe_register(&watch->probe);
	if (ret) {
		pr_err("can't watch the elevator's picks: error %d\n", ret);
		kfree(watch);
		return ERR_PTR(ret);
	}
	list_add(&watch->among_watches, &watches);
	return watch;
}

static struct vpt_watch *watch_get(unsigned long dispatch)
{
	struct vpt_watch *watch;

	list_for_each_entry (watch, &watches, among_watches) {
		if (watches_it(watch, dispatch))
			goto found;
	}
	watch = watch_new(dispatch);
	if (IS_ERR(watch))
		return watch;
found:
	watch->disks++;
	return watch;
}

static void watch_put(struct vpt_watch *watch)
{
	if (!watch || --watch->disks)
		return;
	list_del(&watch->among_watches);
	iprobe_unregister(&watch->probe);
	kfree(watch);
}

int vpt_watch_elevator(struct vpt_disk *disk, unsigned long dispatch)
{
	struct vpt_watch *watch;

	if (dispatch && watches_it(disk->watch, dispatch))
		return 0;
	watch_put(disk->watch);
	disk->watch = NULL;
	if (!dispatch)
		return 0;
	watch = watch_get(dispatch);
	if (IS_ERR(watch))
		return PTR_ERR(watch);
	disk->watch = watch;
	return 0;
}
