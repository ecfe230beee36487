// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt/DISK: the settings that are single numbers.  Most are settings of the modelled
 * device (core/drive/settings.h).  These settings belong to the throttle itself:
 *
 *	scale_auto              1: k is adapted to late requests
 *	subtract_overhead       1: the overhead of kernel and throttle is not service time
 *	record_groups           1: owners in the records are control groups, not processes
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include "../../core/drive/settings.h"
#include "sysfs.h"

#define OWN(name_)                                                                    \
	{                                                                             \
		.name = #name_, .offset = offsetof(struct vpt_model, name_), .max = 1 \
	}

static const struct sched_field own[] = {
	OWN(scale_auto),
	OWN(subtract_overhead),
	OWN(record_groups),
};

struct setting {
	struct kobj_attribute attr;
	const struct sched_field *field; /* in struct vpt_model */
};

static_assert(!offsetof(struct vpt_model, device));

static ssize_t setting_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *page)
{
	struct setting *setting = container_of(attr, struct setting, attr);
	u64 *value = sched_field_value(&vpt_disk_of(kobj)->model, setting->field);

	return sysfs_emit(page, "%llu\n", READ_ONCE(*value));
}

/*
 * Applies a changed setting.  Called with the lock held.  `changed` is the checked model with the
 * new value.
 */
static void take(struct vpt_disk *disk, struct vpt_model *changed,
		 const struct setting *setting)
{
	u64 *value = sched_field_value(&disk->model, setting->field);

	if (value == &disk->model.device.scale_milli) {
		vpt_set_scale(disk, changed->device.scale_milli);
		return;
	}
	vpt_keep_checked_scale(disk, changed);
	*value = *sched_field_value(changed, setting->field);
}

static int change(struct vpt_disk *disk, const struct setting *setting, u64 value)
{
	struct vpt_model *changed = vpt_model_copy(disk);
	unsigned long flags;
	int ret;

	if (!changed)
		return -ENOMEM;
	*sched_field_value(changed, setting->field) = value;
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
	if (value < setting->field->min || value > setting->field->max)
		return -ERANGE;
	mutex_lock(&disk->control);
	ret = change(disk, setting, value);
	mutex_unlock(&disk->control);
	return ret ?: count;
}

static struct setting settings[DEVICE_SETTINGS_MAX + ARRAY_SIZE(own)];
static struct attribute *settings_attrs[ARRAY_SIZE(settings) + 1];

const struct attribute_group vpt_settings_group = { .attrs = settings_attrs };

static void declare(u32 i, const struct sched_field *field)
{
	struct setting *setting = &settings[i];

	*setting = (struct setting){
		.attr = { .attr = { .name = field->name, .mode = 0644 },
			  .show = setting_show,
			  .store = setting_store },
		.field = field,
	};
	settings_attrs[i] = &setting->attr.attr;
}

void vpt_declare_settings(void)
{
	u32 i;

	for (i = 0; i < nr_device_settings; i++)
		declare(i, &device_settings[i]);
	for (i = 0; i < ARRAY_SIZE(own); i++)
		declare(nr_device_settings + i, &own[i]);
}
