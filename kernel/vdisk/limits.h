/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The properties that the virtual disk reports to the block layer, in each kernel's API: sectors of
 * 512 bytes, requests of up to 1,280 KiB in any number of memory segments, rotational.  A volatile
 * write cache with FUA is supported, but off until user space switches it on.
 */
#ifndef UNDERSTUDY_VDISK_LIMITS_H
#define UNDERSTUDY_VDISK_LIMITS_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/version.h>

#define VDISK_MAX_SECTORS 2560

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)

/* Allocates a disk with these limits.  Returns an error pointer on failure. */
static inline struct gendisk *alloc_disk_of(struct blk_mq_tag_set *tags, void *data)
{
	struct queue_limits limits = {
		.features = BLK_FEAT_ROTATIONAL | BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA,
		.flags = BLK_FLAG_WRITE_CACHE_DISABLED,
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = SECTOR_SIZE,
		.max_hw_sectors = VDISK_MAX_SECTORS,
		.max_segments = VDISK_MAX_SECTORS,
	};

	return blk_mq_alloc_disk(tags, &limits, data);
}

#else

static inline struct gendisk *alloc_disk_of(struct blk_mq_tag_set *tags, void *data)
{
	struct gendisk *disk = blk_mq_alloc_disk(tags, data);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, SECTOR_SIZE);
	blk_queue_physical_block_size(q, SECTOR_SIZE);
	blk_queue_max_hw_sectors(q, VDISK_MAX_SECTORS);
	blk_queue_max_segments(q, VDISK_MAX_SECTORS);
	blk_queue_write_cache(q, true, true);
	blk_queue_flag_clear(QUEUE_FLAG_WC, q);
	blk_queue_flag_clear(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
	return disk;
}

#endif

#endif
