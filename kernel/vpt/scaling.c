// SPDX-License-Identifier: GPL-2.0
/*
 * k, and how it finds itself (PERFORM 2010 section 4, Jones 2010 section 4.3.2).
 *
 * A late request says that the disk which stands in is slower than k allows.  So of the last 1,000
 * more than 1 % late raise k, and less than 0.1 % lower it.  The papers do not say by how much:
 * here by a quarter and by a sixteenth, up fast, since what is late is wrong, and down slowly.
 * After each step the 1,000 are counted anew, since they tell of the k under which they were due.
 *
 * A request that the model gives no time (a discard) is late with any k, so it is not counted.
 * Nobody is served faster than by the model: k does not fall below 1 by itself.  It
 * never rises above what keeps the slowest request within the limit (model.c).
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "vpt.h"

#define NORMAL_MILLI 1000ULL
#define TOO_MANY (VPT_WINDOW / 100)
#define TOO_FEW (VPT_WINDOW / 1000)

void vpt_set_scale(struct vpt_disk *disk, u64 scale_milli)
{
	if (scale_milli == disk->model.device.scale_milli)
		return;
	device_set_scale(&disk->model.device, scale_milli, ktime_get_ns());
	memset(&disk->scaling, 0, sizeof(disk->scaling));
}

void vpt_keep_checked_scale(struct vpt_disk *disk, const struct vpt_model *changed)
{
	vpt_set_scale(disk,
		      min(disk->model.device.scale_milli, changed->device.scale_milli));
}

static u64 largest_scale_milli(const struct vpt_disk *disk)
{
	u64 slowest_ns = max(vpt_model_slowest_ns(&disk->model, disk->bdev), 1ULL);

	return min(div64_u64(VPT_HOLD_MAX_NS * 1000, slowest_ns),
		   DEVICE_SCALE_MILLI_MAX);
}

static void raise(struct vpt_disk *disk)
{
	u64 k = disk->model.device.scale_milli;
	u64 raised = min(k + max(k / 4, 1ULL), largest_scale_milli(disk));

	if (raised <= k)
		return;
	vpt_set_scale(disk, raised);
	disk->counters.scale_raised++;
}

static void lower(struct vpt_disk *disk)
{
	u64 k = disk->model.device.scale_milli;

	if (k <= NORMAL_MILLI)
		return;
	vpt_set_scale(disk, max(k - k / 16, NORMAL_MILLI));
	disk->counters.scale_lowered++;
}

/* The newest takes the place of the oldest. */
static void count(struct vpt_scaling *scaling, bool late)
{
	scaling->nr_late += late;
	scaling->nr_late -= test_bit(scaling->next, scaling->late);
	__assign_bit(scaling->next, scaling->late, late);
	scaling->next = (scaling->next + 1) % VPT_WINDOW;
	scaling->judged = min(scaling->judged + 1, (u32)VPT_WINDOW);
}

void vpt_judged(struct vpt_disk *disk, const struct vpt_request *vr)
{
	struct vpt_scaling *scaling = &disk->scaling;

	if (!vr->command.waits && !vr->command.service_ns)
		return;
	count(scaling, vr->flags & VPT_LATE);
	if (!disk->model.scale_auto)
		return;
	if (scaling->nr_late > TOO_MANY)
		raise(disk);
	else if (scaling->judged == VPT_WINDOW && scaling->nr_late < TOO_FEW)
		lower(disk);
}
