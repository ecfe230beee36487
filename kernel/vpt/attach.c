// SPDX-License-Identifier: GPL-2.0
/*
 * Checks whether a disk can be throttled, and starts and ends throttling.
 *
 * Before a disk is accepted, one read is sent to it.  The hooks must see the read's dispatch, and
 * its completion on the up path (hooks.c).  If the disk's driver completes requests in another way,
 * the disk is refused, since the throttle could not delay its requests.
 *
 * Until the disk is accepted, no request is held and no profile applies, so the read takes only as
 * long as the disk itself needs.  The process that waits for the read can be killed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "vpt.h"

/* Time limit for requests that are in flight when the hooks are set. */
#define PATIENCE (30 * HZ)

/* The trial read, which shows whether a disk can be throttled. */
struct trial {
	refcount_t users; /* the block layer and the waiting process */
	struct page *page;
	struct bio_vec vec;
	struct bio bio;
	struct completion answered;
};

static atomic_t trials; /* number of trials in use */

static void trial_put(struct trial *trial)
{
	if (!refcount_dec_and_test(&trial->users))
		return;
	bio_uninit(&trial->bio);
	__free_page(trial->page);
	kfree(trial);
	if (atomic_dec_and_test(&trials))
		wake_up_var(&trials);
}

static void trial_answered(struct bio *bio)
{
	struct trial *trial = bio->bi_private;

	complete(&trial->answered);
	trial_put(trial);
}

static struct trial *send_trial(struct vpt_disk *disk)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);

	if (!trial)
		return NULL;
	trial->page = alloc_page(GFP_KERNEL);
	if (!trial->page) {
		kfree(trial);
		return NULL;
	}
	refcount_set(&trial->users, 2);
	atomic_inc(&trials);
	init_completion(&trial->answered);
	bio_init(&trial->bio, disk->bdev, &trial->vec, 1, REQ_OP_READ);
	__bio_add_page(&trial->bio, trial->page, PAGE_SIZE, 0);
	trial->bio.bi_private = trial;
	trial->bio.bi_end_io = trial_answered;
	submit_bio(&trial->bio);
	return trial;
}

/*
 * Reads the first page of the disk.  If the process is killed, this function returns before the
 * read has completed.
 */
static int read_first_page(struct vpt_disk *disk)
{
	struct trial *trial = send_trial(disk);
	int ret;

	if (!trial)
		return -ENOMEM;
	ret = wait_for_completion_killable(&trial->answered)
		      ? -EINTR
		      : blk_status_to_errno(trial->bio.bi_status);
	trial_put(trial);
	if (ret && ret != -EINTR)
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

/* Waits until all requests that began before the hooks were set have ended. */
static int settle(struct vpt_disk *disk)
{
	int in_time;

	blk_freeze_queue_start(disk->queue);
	in_time = blk_mq_freeze_queue_wait_timeout(disk->queue, PATIENCE);
	blk_mq_unfreeze_queue(disk->queue);
	if (in_time)
		return 0;
	pr_err("%pg: requests in flight do not end\n", disk->bdev);
	return -EBUSY;
}

/* Sends a read, and checks that the throttle could have held its completion. */
static int try_disk(struct vpt_disk *disk)
{
	struct vpt_counters before, after;
	int ret = settle(disk);

	if (ret)
		return ret;
	before = counters_now(disk);
	ret = read_first_page(disk);
	if (ret == -EINTR || ret == -ENOMEM)
		return ret;
	after = counters_now(disk);
	if (after.requests == before.requests || after.missed != before.missed) {
		pr_err("%pg completes its requests where they can't be held\n",
		       disk->bdev);
		return -EOPNOTSUPP;
	}
	return ret;
}

int vpt_open(struct vpt_disk *disk, const char *path)
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
	/* The path may refer to another file since lookup_bdev. */
	if (!S_ISBLK(file_inode(file)->i_mode)) {
		filp_close(file, NULL);
		return -ENOTBLK;
	}
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

void vpt_close(struct vpt_disk *disk)
{
	filp_close(disk->file, NULL);
}

int vpt_attach(struct vpt_disk *disk)
{
	int ret;

	vpt_model_clear(disk, bdev_nr_sectors(disk->bdev));
	ret = vpt_hook(disk);
	if (ret)
		return ret;
	ret = try_disk(disk);
	if (ret) {
		vpt_unhook(disk);
		vpt_forget_all(disk);
		return ret;
	}
	vpt_start_holding(disk);
	return 0;
}

void vpt_detach(struct vpt_disk *disk)
{
	vpt_release_all(disk);
	vpt_unhook(disk);
	vpt_forget_all(disk);
}

void vpt_end_trials(void)
{
	wait_var_event(&trials, !atomic_read(&trials));
	/* The last call of trial_answered may still be running. */
	synchronize_rcu_tasks();
}
