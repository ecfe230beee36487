// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt/DISK: what of the profile is one number, and of the records.
 *
 *	intercept_ns, hit_ns
 *	rotation_ns, rotation_random, rotation_seed
 *	cache_segments, cache_segment_sectors, cache_prefetch_sectors
 *	track_switch_ns
 *	tracks_step, tracks_velocity (core/drive/tracks.h)
 *	buffered                0: the papers' cache, 1: the buffer, which is in
 *	bus_sector_ps, write_ns, write_settle_ns
 *	buffer_*, read_ahead_*, read_reach_sectors, after_hit, write_back_*
 *	queue_depth             how many the drive chooses among; 0: it does not
 *	queue_age_limit_ns
 *	array_servers           0: it is a disk; else an array, from the next reset on
 *	array_service_ns, array_exponential, array_seed
 *	scale_milli             k, in thousandths
 *	scale_auto              1: it follows what is late
 *	subtract_overhead       1: a service begins when it could have
 *	record_groups           1: owners in the records are control groups, not processes
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

/* Under the lock: changed is the model with the value in it, and was checked. */
static void take(struct vpt_disk *disk, struct vpt_model *changed,
		 const struct setting *setting)
{
	u64 *value = value_of(&disk->model, setting);

	if (value == &disk->model.scale_milli) {
		vpt_set_scale(disk, changed->scale_milli);
		return;
	}
	vpt_keep_checked_scale(disk, changed);
	*value = *value_of(changed, setting);
}

static int change(struct vpt_disk *disk, const struct setting *setting, u64 value)
{
	struct vpt_model *changed = vpt_model_copy(disk);
	unsigned long flags;
	int ret;

	if (!changed)
		return -ENOMEM;
	*value_of(changed, setting) = value;
	ret = vpt_model_check(changed, disk->bdev);
	if (!ret) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		take(disk, changed, setting);
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	kvfree(changed);
	return ret;
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
SETTING(track_switch_ns, drive.disk.switch_ns, 0, VPT_HOLD_MAX_NS);
SETTING(tracks_step, drive.disk.tracks.step, 0, TRACKS_STEP_MAX);
SETTING(tracks_velocity, drive.disk.tracks.velocity, 0, U64_MAX);
SETTING(buffered, drive.buffered, 0, 1);
SETTING(write_settle_ns, drive.buffer.settle_ns, 0, VPT_HOLD_MAX_NS);
SETTING(write_ns, drive.buffer.write_ns, 0, VPT_HOLD_MAX_NS);
SETTING(bus_sector_ps, drive.buffer.bus_ps, 0, DISK_SECTOR_PS_MAX);
SETTING(buffer_segments, drive.buffer.segments.nr, 0, SEGMENTS_MAX);
SETTING(buffer_segment_sectors, drive.buffer.segments.sectors, 0, U32_MAX);
SETTING(read_ahead_sectors, drive.buffer.ahead_sectors, 0, U32_MAX);
SETTING(read_reach_sectors, drive.buffer.reach_sectors, 0, U32_MAX);
SETTING(read_ahead_to_track_end, drive.buffer.ahead_to_track_end, 0, 1);
SETTING(read_ahead_overwrites, drive.buffer.ahead_overwrites, 0, 1);
SETTING(after_hit, drive.buffer.after_hit, 0, AFTER_HIT_RETURN);
SETTING(write_back_spans, drive.buffer.writes.spans_max, 0, WRITE_CACHE_SPANS_MAX);
SETTING(write_back_sectors, drive.buffer.writes.sectors_max, 0, U32_MAX);
SETTING(write_back_idle_ns, drive.buffer.writes.idle_ns, 0, VPT_HOLD_MAX_NS);
SETTING(write_back_order, drive.buffer.writes.order, 0, WRITE_ASCENDING);
SETTING(queue_depth, drive.queue_depth, 0, QUEUE_DEPTH_MAX);
SETTING(queue_age_limit_ns, drive.queue_age_ns, 0, VPT_HOLD_MAX_NS);
SETTING(array_servers, array.servers, 0, VPT_REQUESTS_MAX);
SETTING(array_service_ns, array.mean_service_ns, 0, VPT_HOLD_MAX_NS);
SETTING(array_exponential, array.exponential, 0, 1);
SETTING(array_seed, array_seed, 0, U64_MAX);
SETTING(scale_milli, scale_milli, 1, VPT_SCALE_MAX_MILLI);
SETTING(scale_auto, scale_auto, 0, 1);
SETTING(subtract_overhead, subtract_overhead, 0, 1);
SETTING(record_groups, record_groups, 0, 1);

static struct attribute *settings_attrs[] = {
	&intercept_ns_setting.attr.attr,
	&rotation_ns_setting.attr.attr,
	&rotation_random_setting.attr.attr,
	&rotation_seed_setting.attr.attr,
	&hit_ns_setting.attr.attr,
	&cache_segments_setting.attr.attr,
	&cache_segment_sectors_setting.attr.attr,
	&cache_prefetch_sectors_setting.attr.attr,
	&track_switch_ns_setting.attr.attr,
	&tracks_step_setting.attr.attr,
	&tracks_velocity_setting.attr.attr,
	&buffered_setting.attr.attr,
	&write_settle_ns_setting.attr.attr,
	&write_ns_setting.attr.attr,
	&bus_sector_ps_setting.attr.attr,
	&buffer_segments_setting.attr.attr,
	&buffer_segment_sectors_setting.attr.attr,
	&read_ahead_sectors_setting.attr.attr,
	&read_reach_sectors_setting.attr.attr,
	&read_ahead_to_track_end_setting.attr.attr,
	&read_ahead_overwrites_setting.attr.attr,
	&after_hit_setting.attr.attr,
	&write_back_spans_setting.attr.attr,
	&write_back_sectors_setting.attr.attr,
	&write_back_idle_ns_setting.attr.attr,
	&write_back_order_setting.attr.attr,
	&queue_depth_setting.attr.attr,
	&queue_age_limit_ns_setting.attr.attr,
	&array_servers_setting.attr.attr,
	&array_service_ns_setting.attr.attr,
	&array_exponential_setting.attr.attr,
	&array_seed_setting.attr.attr,
	&scale_milli_setting.attr.attr,
	&scale_auto_setting.attr.attr,
	&subtract_overhead_setting.attr.attr,
	&record_groups_setting.attr.attr,
	NULL,
};

const struct attribute_group vpt_settings_group = { .attrs = settings_attrs };
