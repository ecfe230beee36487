// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt: the throttle's controls, counters and records.
 *
 *	disk                    write /dev/NAME to throttle that disk, "none" to stop
 *	reset                   write 1: head to 0, cache empty, counters to 0
 *	sysfs_settings.c        what of the profile is a number
 *	sysfs_curves.c          what is a curve
 *	sysfs_records.c         what was recorded
 *	the rest                counters since the reset
 *
 * The folder is the kobject of a disk.
 */
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sysfs.h"

static ssize_t disk_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	ssize_t length;

	mutex_lock(&disk->control);
	length = disk->bdev ? sysfs_emit(page, "%pg\n", disk->bdev)
			    : sysfs_emit(page, "\n");
	mutex_unlock(&disk->control);
	return length;
}

static ssize_t disk_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *page, size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	char *path = kstrndup(page, count, GFP_KERNEL);
	int ret = 0;

	if (!path)
		return -ENOMEM;
	mutex_lock(&disk->control);
	vpt_detach(disk);
	if (strcmp(strim(path), "none"))
		ret = vpt_attach(disk, strim(path));
	mutex_unlock(&disk->control);
	kfree(path);
	return ret ?: count;
}

static struct kobj_attribute disk_attr = __ATTR_RW(disk);

static ssize_t reset_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *page, size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	unsigned long flags;

	mutex_lock(&disk->control);
	raw_spin_lock_irqsave(&disk->lock, flags);
	vpt_throttle_reset(disk);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	mutex_unlock(&disk->control);
	return count;
}

static struct kobj_attribute reset_attr = __ATTR_WO(reset);

/* Counters. */

struct counter {
	struct kobj_attribute attr;
	size_t offset; /* in struct vpt_counters */
};

static ssize_t counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *page)
{
	struct counter *counter = container_of(attr, struct counter, attr);
	const void *counters = &vpt_disk_of(kobj)->counters;
	const u64 *value = counters + counter->offset;

	return sysfs_emit(page, "%llu\n", READ_ONCE(*value));
}

#define COUNTER(name_)                                           \
	static struct counter name_##_counter = {                \
		.attr = __ATTR(name_, 0444, counter_show, NULL), \
		.offset = offsetof(struct vpt_counters, name_),  \
	}

COUNTER(requests);
COUNTER(completed);
COUNTER(failed);
COUNTER(late);
COUNTER(stale);
COUNTER(held);
COUNTER(overshoot_ns);
COUNTER(overshoot_max_ns);
COUNTER(missed);
COUNTER(untracked);
COUNTER(lost);
COUNTER(pick_unseen);

static ssize_t late_permille_show(struct kobject *kobj, struct kobj_attribute *attr,
				  char *page)
{
	const struct vpt_counters *counters = &vpt_disk_of(kobj)->counters;
	u64 requests = max(1ULL, READ_ONCE(counters->requests));

	return sysfs_emit(page, "%llu\n",
			  div64_u64(READ_ONCE(counters->late) * 1000, requests));
}

static struct kobj_attribute late_permille_attr = __ATTR_RO(late_permille);

static struct attribute *control_attrs[] = {
	&disk_attr.attr,
	&reset_attr.attr,
	&requests_counter.attr.attr,
	&completed_counter.attr.attr,
	&failed_counter.attr.attr,
	&late_counter.attr.attr,
	&late_permille_attr.attr,
	&stale_counter.attr.attr,
	&held_counter.attr.attr,
	&overshoot_ns_counter.attr.attr,
	&overshoot_max_ns_counter.attr.attr,
	&missed_counter.attr.attr,
	&untracked_counter.attr.attr,
	&lost_counter.attr.attr,
	&pick_unseen_counter.attr.attr,
	NULL,
};

static const struct attribute_group control_group = { .attrs = control_attrs };

static const struct attribute_group *disk_groups[] = {
	&control_group, &vpt_settings_group, &vpt_curves_group, &vpt_records_group,
	NULL,
};

/* The folder. */

static DECLARE_COMPLETION(disk_freed);

static void disk_release(struct kobject *kobj)
{
	vpt_disk_free(vpt_disk_of(kobj));
	complete(&disk_freed);
}

static struct kobj_type folder_type = {
	.release = disk_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = disk_groups,
};

int vpt_sysfs_add(struct vpt_disk *disk, const char *name)
{
	int ret = kobject_init_and_add(&disk->kobj, &folder_type, kernel_kobj, name);

	if (ret)
		vpt_sysfs_put(disk);
	return ret;
}

void vpt_sysfs_del(struct vpt_disk *disk)
{
	kobject_del(&disk->kobj);
}

void vpt_sysfs_put(struct vpt_disk *disk)
{
	kobject_put(&disk->kobj);
	wait_for_completion(&disk_freed);
}
