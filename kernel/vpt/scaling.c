// SPDX-License-Identifier: GPL-2.0
/*
 * The scale factor k, and how k is adapted to late requests (PERFORM 2010 section 4, Jones 2010
 * section 4.3.2).
 *
 * A late request shows that the underlying disk is slower than k allows.  If more than 1 % of the
 * last 1,000 requests are late, k rises; if less than 0.1 % of a full window are late, k falls.
 * The papers do not say by how much k changes.  Here k rises by a quarter and falls by a sixteenth.
 * k rises fast because late requests are errors, and falls slowly.  After each change the window is
 * emptied, since the due times of its requests were computed with the old k.
 *
 * A request without a service time in the model (a discard) is late with any k, so it is not
 * counted.  k is not lowered below 1, so that no request is served faster than in the model.  Nor
 * is k raised so far that the slowest request exceeds the limit (model.c).
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

/* Counts a request, which replaces the oldest request in the window. */
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
