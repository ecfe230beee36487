// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt: the throttle's controls, counters and records.
 *
 *	disk                    write /dev/NAME to throttle that disk, "none" to stop
 *	intercept_ns, hit_ns    the profile; write it after the disk
 *	rotation_ns, rotation_random, rotation_seed
 *	seek_curve              "sectors:ns sectors:ns ...", 0 to the capacity
 *	transfer_curve          "sector:ps sector:ps ...", 0 to the capacity, or nothing
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
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
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
SETTING(rotation_ns, &vpt_drive.disk.rotation_ns, 0, HOLD_MAX_NS);
SETTING(rotation_random, &vpt_drive.random_phase, 0, 1);
SETTING(rotation_seed, &vpt_drive.seed, 0, U64_MAX);
SETTING(hit_ns, &vpt_drive.hit_ns, 0, HOLD_MAX_NS);
SETTING(cache_segments, &vpt_drive.cache.segments, 0, DISK_CACHE_SEGMENTS_MAX);
SETTING(cache_segment_sectors, &vpt_drive.cache.segment_sectors, 0, U32_MAX);
SETTING(cache_prefetch_sectors, &vpt_drive.cache.prefetch_sectors, 0, U32_MAX);
SETTING(scale_milli, &vpt_scale_milli, 1, 1000000);

/*
 * Curves.  Their text is longer than a page, so these are binary attributes: it comes
 * and goes in pieces.  A curve is complete, and takes effect, with its newline.
 */

#define CURVE_TEXT_MAX SZ_64K /* room for CURVE_POINTS_MAX of the longest */

/* A curve on its way in; the rest belongs to the same open file. */
static struct {
	struct file *file;
	size_t length;
	char text[CURVE_TEXT_MAX + 1];
} incoming;

static struct disk candidate;

static bool is_seek(const struct bin_attribute *attr)
{
	return !strcmp(attr->attr.name, "seek_curve");
}

static struct curve *curve_of(struct disk *disk, const struct bin_attribute *attr)
{
	return is_seek(attr) ? &disk->seek : &disk->transfer;
}

static ssize_t curve_read(struct file *file, struct kobject *kobj,
			  struct bin_attribute *attr, char *buffer, loff_t position,
			  size_t count)
{
	const struct curve *curve = curve_of(&vpt_drive.disk, attr);
	char *text = kvmalloc(CURVE_TEXT_MAX, GFP_KERNEL);
	size_t length = 0;
	ssize_t ret;
	u32 i;

	if (!text)
		return -ENOMEM;
	mutex_lock(&control);
	for (i = 0; i < curve->nr_points; i++)
		length += scnprintf(text + length, CURVE_TEXT_MAX - length,
				    i ? " %llu:%llu" : "%llu:%llu", curve->point[i].at,
				    curve->point[i].value);
	mutex_unlock(&control);
	length += scnprintf(text + length, CURVE_TEXT_MAX - length, "\n");
	ret = memory_read_from_buffer(buffer, count, &position, text, length);
	kvfree(text);
	return ret;
}

static int parse_point(struct curve_point *point, char *word)
{
	char *at = strsep(&word, ":");

	if (!word)
		return -EINVAL;
	return kstrtou64(at, 10, &point->at) ?: kstrtou64(word, 10, &point->value);
}

static int parse_curve(struct curve *curve, char *text, u64 max)
{
	struct curve_point *point = curve->point;
	char *word;
	int ret;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (point == curve->point + CURVE_POINTS_MAX)
			return -E2BIG;
		ret = parse_point(point, word);
		if (ret)
			return ret;
		if (point++->value > max)
			return -ERANGE;
	}
	curve->nr_points = point - curve->point;
	return 0;
}

/* All of the new curve or all of the old one, whatever is being served. */
static int replace_curve(const struct bin_attribute *attr, char *text)
{
	struct curve *new = curve_of(&candidate, attr);
	unsigned long flags;
	int ret;

	candidate = vpt_drive.disk;
	ret = parse_curve(new, text, is_seek(attr) ? HOLD_MAX_NS : DISK_SECTOR_PS_MAX);
	ret = ret ?: disk_check(&candidate);
	if (ret)
		return ret;
	raw_spin_lock_irqsave(&vpt_lock, flags);
	*curve_of(&vpt_drive.disk, attr) = *new;
	raw_spin_unlock_irqrestore(&vpt_lock, flags);
	return 0;
}

/* Another piece; a write at the beginning of the file gives up what was unfinished. */
static int take_piece(struct file *file, const char *piece, loff_t position,
		      size_t count)
{
	if (!position) {
		incoming.file = file;
		incoming.length = 0;
	}
	if (file != incoming.file || position != incoming.length)
		return -EINVAL;
	if (count > CURVE_TEXT_MAX - incoming.length)
		return -E2BIG;
	memcpy(incoming.text + incoming.length, piece, count);
	incoming.length += count;
	incoming.text[incoming.length] = '\0';
	return 0;
}

static ssize_t curve_write(struct file *file, struct kobject *kobj,
			   struct bin_attribute *attr, char *buffer, loff_t position,
			   size_t count)
{
	bool complete;
	int ret;

	mutex_lock(&control);
	ret = take_piece(file, buffer, position, count);
	complete = buffer[count - 1] == '\n';
	if (!ret && complete)
		ret = replace_curve(attr, incoming.text);
	if (ret || complete)
		incoming.length = 0;
	mutex_unlock(&control);
	return ret ?: count;
}

static BIN_ATTR(seek_curve, 0644, curve_read, curve_write, 0);
static BIN_ATTR(transfer_curve, 0644, curve_read, curve_write, 0);

/* Recording. */

static ssize_t record_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *page)
{
	u64 wanted, arrived, completed;

	vpt_record_progress(&wanted, &arrived, &completed);
	return sysfs_emit(page, "%llu %llu %llu\n", wanted, arrived, completed);
}

/* All of it is there; the slowest request, at this scale, does not look like a dead
 * disk. */
static int check_profile(void)
{
	u64 slowest_ns = disk_slowest_ns(&vpt_drive.disk, vpt_disk_max_sectors());

	if (incoming.length) {
		pr_err("a curve was written without the newline that ends it\n");
		return -EINVAL;
	}
	slowest_ns = max(slowest_ns, vpt_drive.hit_ns);
	if (mul_u64_u64_div_u64(slowest_ns, vpt_scale_milli, 1000) <= HOLD_MAX_NS)
		return 0;
	pr_err("the slowest request would take more than %llu s\n",
	       HOLD_MAX_NS / NSEC_PER_SEC);
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
	&rotation_ns_setting.attr.attr,
	&rotation_random_setting.attr.attr,
	&rotation_seed_setting.attr.attr,
	&hit_ns_setting.attr.attr,
	&cache_segments_setting.attr.attr,
	&cache_segment_sectors_setting.attr.attr,
	&cache_prefetch_sectors_setting.attr.attr,
	&scale_milli_setting.attr.attr,
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

static struct bin_attribute *vpt_bin_attrs[] = {
	&bin_attr_records,
	&bin_attr_seek_curve,
	&bin_attr_transfer_curve,
	NULL,
};

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
