// SPDX-License-Identifier: GPL-2.0
/*
 * Which disk is throttled, and whether it can be.
 *
 * Before a disk is accepted, one real read is sent to it and must be seen at its
 * dispatch and on the up path: a driver that completes its requests elsewhere is
 * refused instead of being throttled in name only.
 *
 * Nothing is held, and no earlier profile holds, before the disk is accepted.  So this
 * takes as long as the disk itself takes; whoever waits for it may be killed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "vpt.h"

/* For what is in flight when the hooks are set. */
#define PATIENCE (30 * HZ)

static void trial_answered(struct bio *bio)
{
	struct vpt_disk *disk = bio->bi_private;

	complete(&disk->trial.answered);
}

static void send_trial(struct vpt_disk *disk)
{
	struct vpt_trial *trial = &disk->trial;

	reinit_completion(&trial->answered);
	bio_init(&trial->bio, disk->bdev, &trial->vec, 1, REQ_OP_READ);
	__bio_add_page(&trial->bio, trial->page, PAGE_SIZE, 0);
	trial->bio.bi_private = disk;
	trial->bio.bi_end_io = trial_answered;
	submit_bio(&trial->bio);
}

/* Read the first page of the disk; its answer may come when we are gone. */
static int read_first_page(struct vpt_disk *disk)
{
	struct vpt_trial *trial = &disk->trial;
	int ret;

	send_trial(disk);
	ret = wait_for_completion_killable(&trial->answered);
	if (ret) {
		trial->unanswered = true;
		return -EINTR;
	}
	ret = blk_status_to_errno(trial->bio.bi_status);
	bio_uninit(&trial->bio);
	if (ret)
		pr_err("%pg: reading sector 0 failed: error %d\n", disk->bdev, ret);
	return ret;
}

static struct vpt_counters counters_now(struct vpt_disk *disk)
{
	struct vpt_counters counters;
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	counters = disk->counters;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return counters;
}

/* What began before all hooks were there ends before it is judged. */
static int settle(struct vpt_disk *disk)
{
	int in_time;

	blk_freeze_queue_start(disk->queue);
	in_time = blk_mq_freeze_queue_wait_timeout(disk->queue, PATIENCE);
	blk_mq_unfreeze_queue(disk->queue);
	if (in_time)
		return 0;
	pr_err("%pg: what is in flight does not end\n", disk->bdev);
	return -EBUSY;
}

/* Could we have held it? */
static int try_disk(struct vpt_disk *disk)
{
	struct vpt_counters before, after;
	int ret = settle(disk);

	if (ret)
		return ret;
	before = counters_now(disk);
	ret = read_first_page(disk);
	if (ret == -EINTR)
		return ret;
	after = counters_now(disk);
	if (after.requests == before.requests || after.missed != before.missed) {
		pr_err("%pg completes its requests where they can't be held\n",
		       disk->bdev);
		return -EOPNOTSUPP;
	}
	return ret;
}

static int open_disk(struct vpt_disk *disk, const char *path)
{
	struct block_device *bdev;
	struct file *file;
	dev_t number;
	int ret = lookup_bdev(path, &number);

	if (ret)
		return ret;
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	bdev = I_BDEV(file->f_mapping->host);
	if (bdev_is_partition(bdev) || !queue_is_mq(bdev_get_queue(bdev))) {
		pr_err("%pg is not a whole disk on blk-mq\n", bdev);
		filp_close(file, NULL);
		return -EOPNOTSUPP;
	}
	disk->file = file;
	disk->bdev = bdev;
	disk->queue = bdev_get_queue(bdev);
	return 0;
}

static void close_disk(struct vpt_disk *disk)
{
	filp_close(disk->file, NULL);
	disk->bdev = NULL;
	disk->queue = NULL;
}

int vpt_attach(struct vpt_disk *disk, const char *path)
{
	int ret;

	if (disk->trial.unanswered && !completion_done(&disk->trial.answered)) {
		pr_err("the disk before has not answered yet\n");
		return -EBUSY;
	}
	vpt_end_trial(disk);
	ret = open_disk(disk, path);
	if (ret)
		return ret;
	disk->incoming.length = 0;
	vpt_model_clear(&disk->model, bdev_nr_sectors(disk->bdev));
	ret = vpt_hook(disk);
	if (ret)
		goto no_hooks;
	ret = try_disk(disk);
	if (ret)
		goto no_disk;
	vpt_start_holding(disk);
	return 0;

no_disk:
	vpt_unhook(disk);
no_hooks:
	vpt_forget_all(disk);
	close_disk(disk);
	return ret;
}

void vpt_detach(struct vpt_disk *disk)
{
	if (!disk->bdev)
		return;
	vpt_release_all(disk);
	vpt_unhook(disk);
	vpt_forget_all(disk);
	close_disk(disk);
}

void vpt_end_trial(struct vpt_disk *disk)
{
	if (!disk->trial.unanswered)
		return;
	wait_for_completion(&disk->trial.answered);
	/* Who said so may not have returned from trial_answered yet. */
	synchronize_rcu_tasks();
	bio_uninit(&disk->trial.bio);
	disk->trial.unanswered = false;
}
