// SPDX-License-Identifier: GPL-2.0
/*
 * Where the throttle looks into the block layer of one disk:
 *
 *	arrival     tracepoint block_bio_queue (and block_split)
 *	pick        iprobe on the elevator's dispatch function
 *	dispatch    tracepoint block_rq_issue: fired by the driver as it starts
 *	up path     iprobes on blk_mq_complete_request and ..._remote, where every
 *	            driver that completes from an interrupt passes
 *	completion  tracepoint block_rq_complete (or block_bio_complete: no request)
 *
 * Before a disk is accepted, one real read is sent to it and must be seen at its
 * dispatch and on the up path: a driver that completes its requests elsewhere is
 * refused instead of being throttled in name only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>

#include "vpt.h"
#include "../iprobe/iprobe.h"
#include "../iosched/compat.h"
#include "../iosched/pick.h"

static struct block_device *bdev;
static struct request_queue *queue; /* what the hooks compare with */

static void on_bio_queue(void *data, struct bio *bio)
{
	unsigned long flags;

	if (bdev_get_queue(bio->bi_bdev) != READ_ONCE(queue))
		return;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	vpt_bio_arrived(bio, ktime_get_ns());
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

/* front was split off; what is left hangs on as its parent. */
static void on_split(void *data, struct bio *front, unsigned int new_sector)
{
	unsigned long flags;

	if (bdev_get_queue(front->bi_bdev) != READ_ONCE(queue))
		return;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	vpt_bio_split(front, front->bi_private);
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

/* A bio that ends with its hook still set ended without a request. */
static void on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	unsigned long flags;

	if (q != READ_ONCE(queue))
		return;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	vpt_bio_lost(bio);
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

static bool is_ours(const struct request *rq)
{
	return rq->q == READ_ONCE(queue) &&
	       !blk_rq_is_passthrough((struct request *)rq);
}

static void on_rq_issue(void *data, struct request *rq)
{
	unsigned long flags;

	if (!is_ours(rq))
		return;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	vpt_issued(rq, ktime_get_ns());
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
}

static void on_rq_complete(void *data, struct request *rq, blk_status_t status,
			   unsigned int bytes)
{
	struct vpt_request *vr;
	unsigned long flags;

	if (!is_ours(rq))
		return;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	vr = vpt_find(rq);
	vpt_bios_completed(rq, vr, blk_status_to_errno(status), bytes, ktime_get_ns());
	if (vr && bytes >= blk_rq_bytes(rq))
		vpt_finished(vr, status != BLK_STS_OK);
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
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
	return is_ours((struct request *)regs->di);
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

static void hold_complete(struct request *rq)
{
	void (*original)(struct request *) = complete_probe.original;

	if (!vpt_hold(rq))
		original(rq);
	iprobe_done(&complete_probe);
}

void vpt_complete(struct request *rq)
{
	void (*original)(struct request *) = complete_probe.original;

	original(rq);
}

/* True tells the driver that somebody else completes the request. */
static bool hold_complete_remote(struct request *rq)
{
	bool (*original)(struct request *) = complete_remote_probe.original;
	bool elsewhere = vpt_hold(rq) || original(rq);

	iprobe_done(&complete_remote_probe);
	return elsewhere;
}

/* The pick. */

static struct request *watch_dispatch(struct blk_mq_hw_ctx *hctx);

static struct iprobe dispatch_probe = { .replacement = watch_dispatch };

static struct request *watch_dispatch(struct blk_mq_hw_ctx *hctx)
{
	struct request *(*original)(struct blk_mq_hw_ctx *) = dispatch_probe.original;
	struct request *rq = original(hctx);
	unsigned long flags;

	if (rq && is_ours(rq)) {
		raw_spin_lock_irqsave(&vpt_lock, flags);
		vpt_picked(rq, ktime_get_ns(), pick_reason_get(rq));
		raw_spin_unlock_irqrestore(&vpt_lock, flags);
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

int vpt_rehook_elevator(void)
{
	unsigned long dispatch = (unsigned long)elevator_dispatch_function(queue);
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

static int hook_up_path(void)
{
	int ret = iprobe_register(&complete_probe);

	if (ret)
		return ret;
	ret = iprobe_register(&complete_remote_probe);
	if (ret)
		iprobe_unregister(&complete_probe);
	return ret;
}

static void unhook_up_path(void)
{
	iprobe_unregister(&complete_remote_probe);
	iprobe_unregister(&complete_probe);
}

/* Read the first page of the disk and see whether we could have held it. */
static int probe_disk(void)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct vpt_counters before, after;
	unsigned long flags;
	struct bio_vec vec;
	struct bio bio;
	int ret;

	if (!page)
		return -ENOMEM;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	before = vpt_counters;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);

	bio_init(&bio, bdev, &vec, 1, REQ_OP_READ);
	__bio_add_page(&bio, page, PAGE_SIZE, 0);
	ret = submit_bio_wait(&bio);
	bio_uninit(&bio);
	__free_page(page);

	raw_spin_lock_irqsave(&vpt_lock, flags);
	after = vpt_counters;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	if (after.requests == before.requests || after.missed != before.missed) {
		pr_err("%pg completes its requests where they can't be held\n", bdev);
		return -EOPNOTSUPP;
	}
	if (ret)
		pr_err("%pg: reading sector 0 failed: error %d\n", bdev, ret);
	return ret;
}

static int hook_all(void)
{
	/* The way up first: what is tracked from its issue on can then be held. */
	int ret = hook_up_path();

	if (ret)
		return ret;
	ret = register_tracepoints();
	if (ret)
		goto no_tracepoints;
	ret = vpt_rehook_elevator();
	if (ret)
		goto no_elevator;
	/* What began before all hooks were there ends before it is judged. */
	blk_mq_freeze_queue(queue);
	blk_mq_unfreeze_queue(queue);
	ret = probe_disk();
	if (ret)
		goto no_disk;
	return 0;

no_disk:
	unhook_elevator();
no_elevator:
	unregister_tracepoints();
no_tracepoints:
	vpt_release_all();
	unhook_up_path();
	return ret;
}

int vpt_attach(const char *path)
{
	int ret;

	bdev = blkdev_get_by_path(path, FMODE_READ, NULL);
	if (IS_ERR(bdev)) {
		ret = PTR_ERR(bdev);
		bdev = NULL;
		return ret;
	}
	ret = -EOPNOTSUPP;
	if (bdev_is_partition(bdev) || !queue_is_mq(bdev_get_queue(bdev))) {
		pr_err("%pg is not a whole disk on blk-mq\n", bdev);
		goto close;
	}
	disk_set_linear(&vpt_drive.disk, bdev_nr_sectors(bdev), 0, 0);
	vpt_start_holding();
	WRITE_ONCE(queue, bdev_get_queue(bdev));
	ret = hook_all();
	if (ret)
		goto forget;
	return 0;

forget:
	WRITE_ONCE(queue, NULL);
	vpt_forget_all();
close:
	blkdev_put(bdev, FMODE_READ);
	bdev = NULL;
	return ret;
}

void vpt_detach(void)
{
	if (!bdev)
		return;
	vpt_release_all();
	unhook_elevator();
	unhook_up_path();
	unregister_tracepoints();
	WRITE_ONCE(queue, NULL);
	vpt_forget_all();
	blkdev_put(bdev, FMODE_READ);
	bdev = NULL;
}

const char *vpt_disk_name(void)
{
	return bdev ? bdev->bd_disk->disk_name : "";
}

u32 vpt_disk_max_sectors(void)
{
	return queue_max_sectors(queue);
}
