// SPDX-License-Identifier: GPL-2.0
/*
 * The profile of the disk, which user space sets, and the profile's limits.  Every change is
 * checked.  No request may be held for so long that the disk seems to be dead (VPT_HOLD_MAX_NS),
 * and no two settings may contradict each other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "vpt.h"

void vpt_model_clear(struct vpt_disk *disk, u64 capacity_sectors)
{
	struct vpt_model *model = &disk->model;

	memset(model, 0, sizeof(*model));
	disk_set_linear(&model->device.drive.disk, disk->line, capacity_sectors, 0, 0);
	model->device.scale_milli = 1000;
}

void vpt_rows_free(struct vpt_disk *disk, const void *rows)
{
	if (rows != disk->line)
		kvfree(rows);
}

void vpt_model_free(struct vpt_disk *disk)
{
	const struct disk *described = &disk->model.device.drive.disk;

	vpt_rows_free(disk, described->seek.point);
	vpt_rows_free(disk, described->transfer.point);
	vpt_rows_free(disk, described->tracks.zone);
	vpt_rows_free(disk, described->tracks.slip);
}

u64 vpt_model_slowest_ns(const struct vpt_model *model, struct block_device *bdev)
{
	u32 sectors = queue_max_sectors(bdev_get_queue(bdev));

	return max(drive_slowest_ns(&model->device.drive, sectors),
		   array_slowest_ns(&model->device.array));
}

int vpt_model_check(const struct vpt_model *model, struct block_device *bdev)
{
	u64 slowest_ns;

	if (drive_check(&model->device.drive))
		return -EINVAL;
	if (model->device.array.servers > VPT_REQUESTS_MAX ||
	    model->device.drive.queue_age_ns > VPT_HOLD_MAX_NS)
		return -ERANGE;
	slowest_ns =
		device_scaled_ns(&model->device, vpt_model_slowest_ns(model, bdev));
	if (slowest_ns <= VPT_HOLD_MAX_NS)
		return 0;
	pr_err("%pg: with scale_milli %llu the slowest request would take %llu ms; "
	       "%llu are allowed\n",
	       bdev, model->device.scale_milli, div_u64(slowest_ns, NSEC_PER_MSEC),
	       VPT_HOLD_MAX_NS / NSEC_PER_MSEC);
	return -ERANGE;
}

struct vpt_model *vpt_model_copy(struct vpt_disk *disk)
{
	struct vpt_model *copy = kvmalloc(sizeof(*copy), GFP_KERNEL);
	unsigned long flags;

	if (!copy)
		return NULL;
	raw_spin_lock_irqsave(&disk->lock, flags);
	*copy = disk->model;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return copy;
}
