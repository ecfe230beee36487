// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual disk: a sparse, memory-backed block device that completes each request at once.  The
 * disk accepts one request at a time, or as many as the parameter "depth" allows.  The module
 * creates one disk, vdisk.  If the parameter "disks" is larger than 1, it also creates vdisk1,
 * vdisk2 and so on.
 *
 * The data are in the guest's own memory, so that under a virtual clock no host I/O is in flight
 * while idle time is skipped.  The disk has a dispatch budget of one request by default.  The block
 * layer asks the scheduler for a request only when the disk is free to start it, so no scheduler
 * has to choose a request too early.
 *
 * User space decides whether the disk has a volatile write cache, since user space knows which
 * drive the disk represents.  If "write back" is written to the queue's write_cache file, the block
 * layer sends flushes and FUA writes, so the throttle sees them.  On the virtual disk itself,
 * flushes and FUA writes take no time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "limits.h"

#define QUEUE_DEPTH 128
#define DISKS_MAX 256

static unsigned long long size = 1ULL << 30;
module_param(size, ullong, 0444);
MODULE_PARM_DESC(size, "size in bytes, a multiple of 4096");

static unsigned long long bad_sector = ULLONG_MAX;
module_param(bad_sector, ullong, 0644);
MODULE_PARM_DESC(bad_sector, "requests that touch this sector fail (medium error)");

static unsigned int bad_disk;
module_param(bad_disk, uint, 0444);
MODULE_PARM_DESC(bad_disk, "the disk that has bad_sector, from 0");

static unsigned int depth = 1;

static int set_depth(const char *text, const struct kernel_param *parameter)
{
	int ret = param_set_uint_minmax(text, parameter, 1, QUEUE_DEPTH);

	if (ret)
		pr_err("depth=%s is not 1 to %u\n", text, QUEUE_DEPTH);
	return ret;
}

static const struct kernel_param_ops depth_ops = {
	.set = set_depth,
	.get = param_get_uint,
};
module_param_cb(depth, &depth_ops, &depth, 0644);
__MODULE_PARM_TYPE(depth, "uint");
MODULE_PARM_DESC(depth, "requests that a disk takes at once, 1 to 128");

static unsigned int queues = 1;
module_param(queues, uint, 0444);
MODULE_PARM_DESC(queues,
		 "hardware queues of each disk, at most one for each processor");

static unsigned int disks = 1;
module_param(disks, uint, 0444);
MODULE_PARM_DESC(disks, "number of disks, 1 to 256");

static bool partitions;
module_param(partitions, bool, 0444);
MODULE_PARM_DESC(partitions, "allow partitions");

struct vdisk {
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	/* page number -> struct page; an absent page reads as zeros */
	struct xarray pages;
	atomic_t in_flight; /* requests in flight, which use the dispatch budget */
};

static struct vdisk *vdisks;

static struct page *writable_page(struct vdisk *vd, unsigned long index)
{
	struct page *page = xa_load(&vd->pages, index);
	struct page *raced;

	if (page)
		return page;
	page = alloc_page(GFP_ATOMIC | __GFP_ZERO | __GFP_NOWARN);
	if (!page)
		return NULL;
	raced = xa_cmpxchg(&vd->pages, index, NULL, page, GFP_ATOMIC);
	if (!raced)
		return page;
	__free_page(page);
	return xa_is_err(raced) ? NULL : raced;
}

/*
 * Copies the part of the segment that is within one page of the disk.  Returns the number of bytes
 * in that part, or 0 if there is no memory.
 */
static unsigned int copy_within_page(struct vdisk *vd, bool write, u64 position,
				     const struct bio_vec *segment, unsigned int done)
{
	unsigned long index = position >> PAGE_SHIFT;
	unsigned int offset = offset_in_page(position);
	unsigned int bytes =
		min_t(unsigned int, segment->bv_len - done, PAGE_SIZE - offset);
	struct page *page =
		write ? writable_page(vd, index) : xa_load(&vd->pages, index);

	if (write && !page)
		return 0;
	if (write)
		memcpy_page(page, offset, segment->bv_page, segment->bv_offset + done,
			    bytes);
	else if (page)
		memcpy_page(segment->bv_page, segment->bv_offset + done, page, offset,
			    bytes);
	else
		memzero_page(segment->bv_page, segment->bv_offset + done, bytes);
	return bytes;
}

static blk_status_t transfer(struct vdisk *vd, struct request *rq)
{
	u64 position = blk_rq_pos(rq) << SECTOR_SHIFT;
	bool write = op_is_write(req_op(rq));
	struct req_iterator iter;
	struct bio_vec segment;

	if (vd - vdisks == bad_disk && bad_sector - blk_rq_pos(rq) < blk_rq_sectors(rq))
		return BLK_STS_MEDIUM;

	rq_for_each_segment(segment, rq, iter)
	{
		unsigned int done = 0;

		while (done < segment.bv_len) {
			unsigned int bytes =
				copy_within_page(vd, write, position, &segment, done);

			if (!bytes)
				return BLK_STS_IOERR;
			done += bytes;
			position += bytes;
		}
	}
	return BLK_STS_OK;
}

static blk_status_t vdisk_queue_rq(struct blk_mq_hw_ctx *hctx,
				   const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	blk_status_t *status = blk_mq_rq_to_pdu(rq);

	blk_mq_start_request(rq);
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		*status = transfer(hctx->queue->queuedata, rq);
		break;
	case REQ_OP_FLUSH:
		*status = BLK_STS_OK;
		break;
	default:
		*status = BLK_STS_NOTSUPP;
	}
	blk_mq_complete_request(rq);
	return BLK_STS_OK;
}

static void vdisk_complete(struct request *rq)
{
	blk_status_t *status = blk_mq_rq_to_pdu(rq);
	struct request_queue *q = rq->q;
	struct vdisk *vd = q->queuedata;

	/* The queue may be freed when its last request ends. */
	percpu_ref_get(&q->q_usage_counter);
	blk_mq_end_request(rq, *status);
	atomic_dec_return_release(&vd->in_flight);
	blk_mq_run_hw_queues(q, true);
	percpu_ref_put(&q->q_usage_counter);
}

static int vdisk_get_budget(struct request_queue *q)
{
	struct vdisk *vd = q->queuedata;

	int in_flight = atomic_read(&vd->in_flight);

	do {
		if (in_flight >= READ_ONCE(depth))
			return -1;
	} while (
		!atomic_try_cmpxchg_acquire(&vd->in_flight, &in_flight, in_flight + 1));
	return 0;
}

static void vdisk_put_budget(struct request_queue *q, int token)
{
	struct vdisk *vd = q->queuedata;

	atomic_dec_return_release(&vd->in_flight);
}

static const struct blk_mq_ops vdisk_mq_ops = {
	.queue_rq = vdisk_queue_rq,
	.complete = vdisk_complete,
	.get_budget = vdisk_get_budget,
	.put_budget = vdisk_put_budget,
};

static const struct block_device_operations vdisk_fops = {
	.owner = THIS_MODULE,
};

static int add_disk_to(struct vdisk *vd)
{
	struct gendisk *disk = alloc_disk_of(&vd->tags, vd);

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	vd->disk = disk;
	disk->fops = &vdisk_fops;
	if (!partitions)
		disk->flags |= GENHD_FL_NO_PART;
	if (vd == vdisks)
		strscpy(disk->disk_name, "vdisk", DISK_NAME_LEN);
	else
		snprintf(disk->disk_name, DISK_NAME_LEN, "vdisk%td", vd - vdisks);
	set_capacity(disk, size >> SECTOR_SHIFT);
	return add_disk(disk);
}

static void free_pages_of(struct vdisk *vd)
{
	struct page *page;
	unsigned long index;

	xa_for_each(&vd->pages, index, page) __free_page(page);
	xa_destroy(&vd->pages);
}

static int make(struct vdisk *vd)
{
	int ret;

	xa_init(&vd->pages);
	vd->tags = (struct blk_mq_tag_set){
		.ops = &vdisk_mq_ops,
		.nr_hw_queues = queues,
		.queue_depth = QUEUE_DEPTH,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(blk_status_t),
		.flags = BLK_MQ_F_SHOULD_MERGE,
	};
	ret = blk_mq_alloc_tag_set(&vd->tags);
	if (ret)
		return ret;
	ret = add_disk_to(vd);
	if (ret) {
		if (vd->disk)
			put_disk(vd->disk);
		blk_mq_free_tag_set(&vd->tags);
	}
	return ret;
}

static void unmake(struct vdisk *vd)
{
	del_gendisk(vd->disk);
	put_disk(vd->disk);
	blk_mq_free_tag_set(&vd->tags);
	free_pages_of(vd);
}

/* Removes the disks in reverse order. */
static void unmake_all(unsigned int made)
{
	while (made--)
		unmake(&vdisks[made]);
	kfree(vdisks);
}

static int check_parameters(void)
{
	if (!size || size % PAGE_SIZE) {
		pr_err("size=%llu is not a positive multiple of %lu\n", size,
		       PAGE_SIZE);
		return -EINVAL;
	}
	if (!disks || disks > DISKS_MAX) {
		pr_err("disks=%u is not 1 to %u\n", disks, DISKS_MAX);
		return -EINVAL;
	}
	if (!queues || queues > nr_cpu_ids) {
		pr_err("queues=%u is not 1 to %u\n", queues, nr_cpu_ids);
		return -EINVAL;
	}
	return 0;
}

static int __init vdisk_init(void)
{
	unsigned int made;
	int ret = check_parameters();

	if (ret)
		return ret;
	vdisks = kcalloc(disks, sizeof(*vdisks), GFP_KERNEL);
	if (!vdisks)
		return -ENOMEM;
	for (made = 0; made < disks; made++) {
		ret = make(&vdisks[made]);
		if (ret) {
			unmake_all(made);
			return ret;
		}
	}
	return 0;
}

static void __exit vdisk_exit(void)
{
	unmake_all(disks);
}

module_init(vdisk_init);
module_exit(vdisk_exit);
MODULE_DESCRIPTION(
	"Sparse memory-backed disks, each of which takes one request at a time");
MODULE_LICENSE("GPL");
