// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt: what of the profile is one number.
 *
 *	intercept_ns, hit_ns
 *	rotation_ns, rotation_random, rotation_seed
 *	cache_segments, cache_segment_sectors, cache_prefetch_sectors
 *	scale_milli             k, in thousandths
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include "sysfs.h"

struct setting {
	struct kobj_attribute attr;
	size_t offset; /* in struct vpt_model */
	u64 min, max;
};

static u64 *value_of(struct vpt_model *model, const struct setting *setting)
{
	return (void *)model + setting->offset;
}

static ssize_t setting_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *page)
{
	struct setting *setting = container_of(attr, struct setting, attr);
	u64 *value = value_of(&vpt_disk_of(kobj)->model, setting);

	return sysfs_emit(page, "%llu\n", READ_ONCE(*value));
}

static int change(struct vpt_disk *disk, const struct setting *setting, u64 value)
{
	struct vpt_model *changed = vpt_model_copy(disk);
	unsigned long flags;
	int ret;

	if (IS_ERR(changed))
		return PTR_ERR(changed);
	*value_of(changed, setting) = value;
	ret = vpt_model_check(changed, disk->bdev);
	kvfree(changed);
	if (ret)
		return ret;
	raw_spin_lock_irqsave(&disk->lock, flags);
	*value_of(&disk->model, setting) = value;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return 0;
}

static ssize_t setting_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *page, size_t count)
{
	struct setting *setting = container_of(attr, struct setting, attr);
	struct vpt_disk *disk = vpt_disk_of(kobj);
	u64 value;
	int ret = kstrtou64(page, 0, &value);

	if (ret)
		return ret;
	if (value < setting->min || value > setting->max)
		return -ERANGE;
	mutex_lock(&disk->control);
	ret = change(disk, setting, value);
	mutex_unlock(&disk->control);
	return ret ?: count;
}

#define SETTING(name_, member_, min_, max_)                               \
	static struct setting name_##_setting = {                         \
		.attr = __ATTR(name_, 0644, setting_show, setting_store), \
		.offset = offsetof(struct vpt_model, member_),            \
		.min = min_,                                              \
		.max = max_,                                              \
	}

SETTING(intercept_ns, drive.disk.intercept_ns, 0, VPT_HOLD_MAX_NS);
SETTING(rotation_ns, drive.disk.rotation_ns, 0, VPT_HOLD_MAX_NS);
SETTING(rotation_random, drive.random_phase, 0, 1);
SETTING(rotation_seed, drive.seed, 0, U64_MAX);
SETTING(hit_ns, drive.hit_ns, 0, VPT_HOLD_MAX_NS);
SETTING(cache_segments, drive.cache.segments, 0, DISK_CACHE_SEGMENTS_MAX);
SETTING(cache_segment_sectors, drive.cache.segment_sectors, 0, U32_MAX);
SETTING(cache_prefetch_sectors, drive.cache.prefetch_sectors, 0, U32_MAX);
SETTING(scale_milli, scale_milli, 1, 1000000);

static struct attribute *settings_attrs[] = {
	&intercept_ns_setting.attr.attr,
	&rotation_ns_setting.attr.attr,
	&rotation_random_setting.attr.attr,
	&rotation_seed_setting.attr.attr,
	&hit_ns_setting.attr.attr,
	&cache_segments_setting.attr.attr,
	&cache_segment_sectors_setting.attr.attr,
	&cache_prefetch_sectors_setting.attr.attr,
	&scale_milli_setting.attr.attr,
	NULL,
};

const struct attribute_group vpt_settings_group = { .attrs = settings_attrs };
