// SPDX-License-Identifier: GPL-2.0
/*
 * Where the throttle looks into the block layer:
 *
 *	arrival     tracepoint block_bio_queue (and block_split)
 *	pick        iprobe on the elevator's dispatch function
 *	dispatch    tracepoint block_rq_issue: fired by the driver as it starts
 *	up path     iprobes on blk_mq_complete_request and ..._remote, where every
 *	            driver that completes from an interrupt passes
 *	completion  tracepoint block_rq_complete (or block_bio_complete: no request)
 *	another go  tracepoint block_rq_requeue
 *
 * Tracepoints and functions are the kernel's, so the hooks see the requests of every
 * disk and look for the throttled one that each belongs to.  So far there is one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>

#include "vpt.h"
#include "../iprobe/iprobe.h"
#include "../iosched/compat.h"
#include "../iosched/pick.h"

/* It stays as long as there are hooks that may look at it. */
static struct vpt_disk *throttled;

static struct vpt_disk *disk_of_queue(const struct request_queue *q)
{
	struct vpt_disk *disk = READ_ONCE(throttled);

	return disk && disk->queue == q ? disk : NULL;
}

static struct vpt_disk *disk_of_bio(const struct bio *bio)
{
	return disk_of_queue(bdev_get_queue(bio->bi_bdev));
}

static struct vpt_disk *disk_of(struct request *rq)
{
	return blk_rq_is_passthrough(rq) ? NULL : disk_of_queue(rq->q);
}

/* What a scheduler of ours asks, with its own lock held. */
static u64 positioning_ns(void *queue, const struct io_request *rq, u64 now_ns)
{
	struct vpt_disk *disk = disk_of_queue(queue);
	unsigned long flags;
	u64 ns;

	if (!disk)
		return 0;
	raw_spin_lock_irqsave(&disk->lock, flags);
	ns = vpt_positioning_ns(disk, rq, now_ns);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return ns;
}

positioning_fn *vpt_model_of(struct request_queue *q)
{
	struct vpt_disk *disk = disk_of_queue(q);

	return disk && !READ_ONCE(disk->model.array.servers) ? positioning_ns : NULL;
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

/* front was split off; what is left hangs on as its parent. */
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

/* A bio that ends with its hook still set ended without a request. */
static void on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct vpt_disk *disk = disk_of_queue(q);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_bio_lost(disk, bio);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static void on_rq_issue(void *data, struct request *rq)
{
	struct vpt_disk *disk = disk_of(rq);
	unsigned long flags;

	if (!disk)
		return;
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_issued(disk, rq, ktime_get_ns());
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static void on_rq_requeue(void *data, struct request *rq)
{
	struct vpt_disk *disk = disk_of(rq);
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
	struct vpt_disk *disk = disk_of(rq);
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
	struct tracepoint *tracepoint; /* found; NULL: not in this kernel */
	bool registered;
};

/* In the order of registration: what begins unseen may end, but not the reverse. */
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
	return disk_of((struct request *)regs->di);
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
 * What blk_mq_complete_request does.  The original would do it too, but on its way pass
 * our hook on the other function, where the request is complete already.
 */
static void complete_now(struct request *rq)
{
	bool (*original)(struct request *) = complete_remote_probe.original;

	if (!original(rq))
		rq->q->mq_ops->complete(rq);
}

static void hold_complete(struct request *rq)
{
	if (!vpt_hold(disk_of(rq), rq))
		complete_now(rq);
	iprobe_done(&complete_probe);
}

/* True tells the driver that somebody else completes the request. */
static bool hold_complete_remote(struct request *rq)
{
	bool (*original)(struct request *) = complete_remote_probe.original;
	bool elsewhere = vpt_hold(disk_of(rq), rq) || original(rq);

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

/* The pick. */

static struct request *watch_dispatch(struct blk_mq_hw_ctx *hctx);

static struct iprobe dispatch_probe = { .replacement = watch_dispatch };

static struct request *watch_dispatch(struct blk_mq_hw_ctx *hctx)
{
	struct request *(*original)(struct blk_mq_hw_ctx *) = dispatch_probe.original;
	struct request *rq = original(hctx);
	struct vpt_disk *disk = rq ? disk_of(rq) : NULL;
	unsigned long flags;

	if (disk) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		vpt_picked(disk, rq, ktime_get_ns(), pick_reason_get(rq));
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	iprobe_done(&dispatch_probe);
	return rq;
}

static void unhook_elevator(void)
{
	if (!dispatch_probe.address)
		return;
	iprobe_unregister(&dispatch_probe);
	dispatch_probe.address = 0;
}

int vpt_rehook_elevator(struct vpt_disk *disk)
{
	unsigned long dispatch = (unsigned long)elevator_dispatch_function(disk->queue);
	int ret;

	if (dispatch == dispatch_probe.address && iprobe_registered(&dispatch_probe))
		return 0;
	unhook_elevator();
	if (!dispatch)
		return 0;
	dispatch_probe.address = dispatch;
	ret = iprobe_register(&dispatch_probe);
	if (ret) {
		pr_err("can't watch the elevator's picks: error %d\n", ret);
		dispatch_probe.address = 0;
	}
	return ret;
}

int vpt_hook(struct vpt_disk *disk)
{
	int ret;

	disk->throttle.complete = complete_now;
	WRITE_ONCE(throttled, disk);
	/* The way up first: what is tracked from its issue on can then be held. */
	ret = hook_up_path();
	if (ret)
		goto no_up_path;
	ret = register_tracepoints();
	if (ret)
		goto no_tracepoints;
	ret = vpt_rehook_elevator(disk);
	if (ret)
		goto no_elevator;
	return 0;

no_elevator:
	unregister_tracepoints();
no_tracepoints:
	unhook_up_path();
no_up_path:
	WRITE_ONCE(throttled, NULL);
	return ret;
}

void vpt_unhook(struct vpt_disk *disk)
{
	unhook_elevator();
	unhook_up_path();
	unregister_tracepoints();
	WRITE_ONCE(throttled, NULL);
}
