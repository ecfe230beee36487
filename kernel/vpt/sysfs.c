// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt: the throttle's controls, counters and records.
 *
 *	disk                    write /dev/NAME to throttle that disk, "none" to stop
 *	intercept_ns, hit_ns    the profile; write it after the disk
 *	seek_curve              "sectors:ns sectors:ns ...", 0 to the capacity
 *	cache_segments, cache_segment_sectors, cache_prefetch_sectors
 *	scale_milli             k, in thousandths
 *	record                  write N: reset, then record the first N arrivals;
 *	                        read: wanted, arrived, completed
 *	records                 struct vpt_record for each arrival, once it is done
 *	reset                   write 1: head to 0, cache empty, counters to 0
 *	the rest                counters since the reset
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kobject.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "vpt.h"

static struct kobject *vpt_kobj;
static DEFINE_MUTEX(control); /* one change at a time */

/* The service of one request may not take longer: half of the block layer's time-out.
 */
#define HOLD_MAX_NS (15ULL * NSEC_PER_SEC)
#define RECORDS_MAX 10000000ULL

static ssize_t disk_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	ssize_t length;

	mutex_lock(&control);
	length = sysfs_emit(page, "%s\n", vpt_disk_name());
	mutex_unlock(&control);
	return length;
}

static ssize_t disk_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *page, size_t count)
{
	char *path = kstrndup(page, count, GFP_KERNEL);
	int ret = 0;

	if (!path)
		return -ENOMEM;
	mutex_lock(&control);
	vpt_detach();
	if (strcmp(strim(path), "none"))
		ret = vpt_attach(strim(path));
	mutex_unlock(&control);
	kfree(path);
	return ret ?: count;
}

static struct kobj_attribute disk_attr = __ATTR_RW(disk);

/* Settings that are one number. */

struct setting {
	struct kobj_attribute attr;
	u64 *value;
	u64 min, max;
};

static ssize_t setting_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *page)
{
	struct setting *setting = container_of(attr, struct setting, attr);

	return sysfs_emit(page, "%llu\n", READ_ONCE(*setting->value));
}

static ssize_t setting_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *page, size_t count)
{
	struct setting *setting = container_of(attr, struct setting, attr);
	unsigned long flags;
	u64 value;
	int ret = kstrtou64(page, 0, &value);

	if (ret)
		return ret;
	if (value < setting->min || value > setting->max)
		return -ERANGE;
	mutex_lock(&control);
	raw_spin_lock_irqsave(&vpt_lock, flags);
	*setting->value = value;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	mutex_unlock(&control);
	return count;
}

#define SETTING(name_, value_, min_, max_)                                \
	static struct setting name_##_setting = {                         \
		.attr = __ATTR(name_, 0644, setting_show, setting_store), \
		.value = value_,                                          \
		.min = min_,                                              \
		.max = max_,                                              \
	}

SETTING(intercept_ns, &vpt_drive.disk.intercept_ns, 0, HOLD_MAX_NS);
SETTING(hit_ns, &vpt_drive.hit_ns, 0, HOLD_MAX_NS);
SETTING(cache_segments, &vpt_drive.cache.segments, 0, DISK_CACHE_SEGMENTS_MAX);
SETTING(cache_segment_sectors, &vpt_drive.cache.segment_sectors, 0, U32_MAX);
SETTING(cache_prefetch_sectors, &vpt_drive.cache.prefetch_sectors, 0, U32_MAX);
SETTING(scale_milli, &vpt_scale_milli, 1, 1000000);

/* The seek curve. */

static ssize_t seek_curve_show(struct kobject *kobj, struct kobj_attribute *attr,
			       char *page)
{
	const struct disk *disk = &vpt_drive.disk;
	ssize_t length = 0;
	u32 i;

	mutex_lock(&control);
	for (i = 0; i < disk->nr_points; i++)
		length += sysfs_emit_at(
			page, length, "%llu:%llu%c", disk->seek[i].distance_sectors,
			disk->seek[i].seek_ns, i + 1 < disk->nr_points ? ' ' : '\n');
	mutex_unlock(&control);
	return length;
}

static int parse_curve(struct disk *disk, const char *text)
{
	int used;

	disk->nr_points = 0;
	while (disk->nr_points < DISK_CURVE_POINTS_MAX) {
		struct disk_curve_point *point = &disk->seek[disk->nr_points];

		text = skip_spaces(text);
		if (!*text)
			return disk_check(disk);
		if (sscanf(text, "%llu:%llu%n", &point->distance_sectors,
			   &point->seek_ns, &used) != 2)
			return -EINVAL;
		if (point->seek_ns > HOLD_MAX_NS)
			return -ERANGE;
		text += used;
		disk->nr_points++;
	}
	return -E2BIG;
}

static ssize_t seek_curve_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *page, size_t count)
{
	struct disk *disk = kmalloc(sizeof(*disk), GFP_KERNEL);
	unsigned long flags;
	int ret;

	if (!disk)
		return -ENOMEM;
	mutex_lock(&control);
	*disk = vpt_drive.disk;
	ret = parse_curve(disk, page);
	if (!ret) {
		raw_spin_lock_irqsave(&vpt_lock, flags);
		vpt_drive.disk = *disk;
		raw_spin_unlock_irqrestore(&vpt_lock, flags);
	}
	mutex_unlock(&control);
	kfree(disk);
	return ret ?: count;
}

static struct kobj_attribute seek_curve_attr = __ATTR_RW(seek_curve);

/* Recording. */

static ssize_t record_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *page)
{
	u64 wanted, arrived, completed;

	vpt_record_progress(&wanted, &arrived, &completed);
	return sysfs_emit(page, "%llu %llu %llu\n", wanted, arrived, completed);
}

/* The slowest request, at this scale, must not look like a dead disk. */
static int check_profile(void)
{
	const struct disk *disk = &vpt_drive.disk;
	u64 slowest_ns = disk->intercept_ns + disk->seek[disk->nr_points - 1].seek_ns;

	slowest_ns = max(slowest_ns, vpt_drive.hit_ns);
	if (mul_u64_u64_div_u64(slowest_ns, vpt_scale_milli, 1000) <= HOLD_MAX_NS)
		return 0;
	pr_err("a full seek would take more than %llu s\n", HOLD_MAX_NS / NSEC_PER_SEC);
	return -ERANGE;
}

static ssize_t record_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *page, size_t count)
{
	u64 arrivals;
	int ret = kstrtou64(page, 0, &arrivals);

	if (ret)
		return ret;
	if (arrivals < 1 || arrivals > RECORDS_MAX)
		return -ERANGE;
	mutex_lock(&control);
	ret = *vpt_disk_name() ? check_profile() : -ENODEV;
	if (!ret)
		ret = vpt_rehook_elevator();
	if (!ret)
		ret = vpt_record_start(arrivals);
	mutex_unlock(&control);
	return ret ?: count;
}

static struct kobj_attribute record_attr = __ATTR_RW(record);

static ssize_t records_read(struct file *file, struct kobject *kobj,
			    struct bin_attribute *attr, char *buffer, loff_t position,
			    size_t count)
{
	u64 wanted, arrived, completed;
	ssize_t ret = -EBUSY;

	mutex_lock(&control);
	vpt_record_progress(&wanted, &arrived, &completed);
	if (completed == arrived)
		ret = memory_read_from_buffer(buffer, count, &position,
					      vpt_record_data(), vpt_record_bytes());
	mutex_unlock(&control);
	return ret;
}

static BIN_ATTR_RO(records, 0);

static ssize_t reset_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *page, size_t count)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&vpt_lock, flags);
	vpt_throttle_reset();
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	return count;
}

static struct kobj_attribute reset_attr = __ATTR_WO(reset);

/* Counters. */

struct counter {
	struct kobj_attribute attr;
	const u64 *value;
};

static ssize_t counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *page)
{
	struct counter *counter = container_of(attr, struct counter, attr);

	return sysfs_emit(page, "%llu\n", READ_ONCE(*counter->value));
}

#define COUNTER(name_)                                           \
	static struct counter name_##_counter = {                \
		.attr = __ATTR(name_, 0444, counter_show, NULL), \
		.value = &vpt_counters.name_,                    \
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
	u64 requests = max(1ULL, READ_ONCE(vpt_counters.requests));

	return sysfs_emit(page, "%llu\n",
			  div64_u64(READ_ONCE(vpt_counters.late) * 1000, requests));
}

static struct kobj_attribute late_permille_attr = __ATTR_RO(late_permille);

static struct attribute *vpt_attrs[] = {
	&disk_attr.attr,
	&intercept_ns_setting.attr.attr,
	&hit_ns_setting.attr.attr,
	&cache_segments_setting.attr.attr,
	&cache_segment_sectors_setting.attr.attr,
	&cache_prefetch_sectors_setting.attr.attr,
	&scale_milli_setting.attr.attr,
	&seek_curve_attr.attr,
	&record_attr.attr,
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

static struct bin_attribute *vpt_bin_attrs[] = { &bin_attr_records, NULL };

static const struct attribute_group vpt_group = {
	.attrs = vpt_attrs,
	.bin_attrs = vpt_bin_attrs,
};

int vpt_sysfs_init(void)
{
	int ret;

	vpt_kobj = kobject_create_and_add("vpt", kernel_kobj);
	if (!vpt_kobj)
		return -ENOMEM;
	ret = sysfs_create_group(vpt_kobj, &vpt_group);
	if (ret)
		kobject_put(vpt_kobj);
	return ret;
}

void vpt_sysfs_exit(void)
{
	sysfs_remove_group(vpt_kobj, &vpt_group);
	kobject_put(vpt_kobj);
}
