// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt: the throttle's controls, counters and records.
 *
 *	add                     write /dev/NAME to throttle that disk; its folder appears
 *	remove                  write NAME to stop throttling that disk; its folder disappears
 *
 * The folder of each disk is the disk's kobject and has these files:
 *
 *	reset                   write 1 to move the head to sector 0, empty the cache and set the
 *	                        counters to 0
 *	sysfs_settings.c        settings of the profile that are numbers
 *	sysfs_curves.c          settings of the profile that are curves
 *	sysfs_records.c         the records
 *	late_window_permille    late requests among the last 1,000
 *	late_window_requests    number of requests in that window, since a reset or a change of k
 *	other files             counters since the reset
 */
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sysfs.h"

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
	size_t offset; /* offset in struct vpt_counters */
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
COUNTER(overhead_ns);
COUNTER(missed);
COUNTER(untracked);
COUNTER(lost);
COUNTER(pick_unseen);
COUNTER(scale_raised);
COUNTER(scale_lowered);

static ssize_t late_permille_show(struct kobject *kobj, struct kobj_attribute *attr,
				  char *page)
{
	const struct vpt_counters *counters = &vpt_disk_of(kobj)->counters;
	u64 requests = max(1ULL, READ_ONCE(counters->requests));

	return sysfs_emit(page, "%llu\n",
			  div64_u64(READ_ONCE(counters->late) * 1000, requests));
}

static struct kobj_attribute late_permille_attr = __ATTR_RO(late_permille);

static ssize_t late_window_permille_show(struct kobject *kobj,
					 struct kobj_attribute *attr, char *page)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	unsigned long flags;
	u32 judged, nr_late;

	raw_spin_lock_irqsave(&disk->lock, flags);
	judged = disk->scaling.judged;
	nr_late = disk->scaling.nr_late;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return sysfs_emit(page, "%u\n", nr_late * 1000 / max(judged, 1U));
}

static struct kobj_attribute late_window_permille_attr =
	__ATTR_RO(late_window_permille);

static ssize_t late_window_requests_show(struct kobject *kobj,
					 struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(vpt_disk_of(kobj)->scaling.judged));
}

static struct kobj_attribute late_window_requests_attr =
	__ATTR_RO(late_window_requests);

static struct attribute *control_attrs[] = {
	&reset_attr.attr,
	&requests_counter.attr.attr,
	&completed_counter.attr.attr,
	&failed_counter.attr.attr,
	&late_counter.attr.attr,
	&late_permille_attr.attr,
	&late_window_permille_attr.attr,
	&late_window_requests_attr.attr,
	&stale_counter.attr.attr,
	&held_counter.attr.attr,
	&overshoot_ns_counter.attr.attr,
	&overshoot_max_ns_counter.attr.attr,
	&overhead_ns_counter.attr.attr,
	&missed_counter.attr.attr,
	&untracked_counter.attr.attr,
	&lost_counter.attr.attr,
	&pick_unseen_counter.attr.attr,
	&scale_raised_counter.attr.attr,
	&scale_lowered_counter.attr.attr,
	NULL,
};

static const struct attribute_group control_group = { .attrs = control_attrs };

static const struct attribute_group *disk_groups[] = {
	&control_group, &vpt_settings_group, &vpt_curves_group, &vpt_records_group,
	NULL,
};

/* The folder of a disk. */

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

static struct kobject *vpt_folder;

int vpt_sysfs_add(struct vpt_disk *disk)
{
	return kobject_init_and_add(&disk->kobj, &folder_type, vpt_folder, "%pg",
				    disk->bdev);
}

void vpt_sysfs_del(struct vpt_disk *disk)
{
	kobject_del(&disk->kobj);
}

/*
 * Drops the last reference to the disk, and waits until the disk is freed, so that the module may
 * be unloaded.
 */
void vpt_sysfs_put(struct vpt_disk *disk)
{
	kobject_put(&disk->kobj);
	wait_for_completion(&disk_freed);
}

/* The folder that contains the folders of all disks. */

static ssize_t with_line(int act(const char *line), const char *page, size_t count)
{
	char *text = kstrndup(page, count, GFP_KERNEL);
	int ret;

	if (!text)
		return -ENOMEM;
	ret = act(strim(text));
	kfree(text);
	return ret ?: count;
}

static ssize_t add_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *page, size_t count)
{
	return with_line(vpt_add, page, count);
}

static ssize_t remove_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *page, size_t count)
{
	return with_line(vpt_remove, page, count);
}

static struct kobj_attribute add_attr = __ATTR_WO(add);
static struct kobj_attribute remove_attr = __ATTR_WO(remove);

static struct attribute *all_attrs[] = {
	&add_attr.attr,
	&remove_attr.attr,
	NULL,
};

static const struct attribute_group all_group = { .attrs = all_attrs };

int vpt_sysfs_init(void)
{
	int ret;

	vpt_declare_settings();
	vpt_folder = kobject_create_and_add("vpt", kernel_kobj);
	if (!vpt_folder)
		return -ENOMEM;
	ret = sysfs_create_group(vpt_folder, &all_group);
	if (ret)
		kobject_put(vpt_folder);
	return ret;
}

void vpt_sysfs_close(void)
{
	sysfs_remove_group(vpt_folder, &all_group);
}

void vpt_sysfs_exit(void)
{
	kobject_put(vpt_folder);
}
