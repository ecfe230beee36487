// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt/DISK: the records.
 *
 *	record                  write N to reset the disk and then record the first N arrivals; read
 *	                        it for three numbers: wanted, arrived, completed
 *	records                 struct vpt_record for each arrival; EBUSY while any of them has
 *	                        not completed; readable by root only, since the records show who
 *	                        read what
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/string.h>

#include "sysfs.h"

#define RECORDS_MAX 10000000ULL

static ssize_t record_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *page)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	u64 wanted, arrived, completed;
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	wanted = disk->recorder.wanted;
	arrived = disk->recorder.arrived;
	completed = disk->recorder.completed;
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return sysfs_emit(page, "%llu %llu %llu\n", wanted, arrived, completed);
}

/* Checks that the profile is complete, and that the slowest request is within the limit. */
static int check_profile(struct vpt_disk *disk)
{
	struct vpt_model *copy;
	int ret;

	if (disk->incoming.length) {
		pr_err("a curve was written without the newline that ends it\n");
		return -EINVAL;
	}
	/* a copy, since requests continue and change the drive */
	copy = vpt_model_copy(disk);
	if (!copy)
		return -ENOMEM;
	ret = vpt_model_check(copy, disk->bdev);
	kvfree(copy);
	return ret;
}

/* Starts a recording.  The throttle's clock and counters are reset at the same moment. */
static void start(struct vpt_disk *disk, u64 arrivals)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&disk->lock, flags);
	disk->recorder.wanted = arrivals;
	vpt_throttle_reset(disk);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
}

static ssize_t record_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *page, size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	u64 arrivals;
	int ret = kstrtou64(page, 0, &arrivals);

	if (ret)
		return ret;
	if (arrivals < 1 || arrivals > RECORDS_MAX)
		return -ERANGE;
	mutex_lock(&disk->control);
	ret = check_profile(disk);
	if (!ret)
		ret = vpt_rehook_elevator(disk);
	if (!ret)
		ret = vpt_record_prepare(disk, arrivals);
	if (!ret)
		start(disk, arrivals);
	mutex_unlock(&disk->control);
	return ret ?: count;
}

static struct kobj_attribute record_attr = __ATTR_RW(record);

/*
 * Returns whether all bios recorded until now have completed.  Stores the size of their records in
 * `bytes`.
 */
static bool all_completed(struct vpt_disk *disk, size_t *bytes)
{
	unsigned long flags;
	bool all;

	raw_spin_lock_irqsave(&disk->lock, flags);
	all = disk->recorder.completed == disk->recorder.arrived;
	*bytes = vpt_record_bytes(disk);
	raw_spin_unlock_irqrestore(&disk->lock, flags);
	return all;
}

static ssize_t records_read(struct file *file, struct kobject *kobj,
			    struct bin_attribute *attr, char *buffer, loff_t position,
			    size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	ssize_t ret = -EBUSY;
	size_t bytes;

	mutex_lock(&disk->control);
	if (all_completed(disk, &bytes))
		ret = memory_read_from_buffer(buffer, count, &position,
					      disk->recorder.records, bytes);
	mutex_unlock(&disk->control);
	return ret;
}

static BIN_ATTR_ADMIN_RO(records, 0);

static struct attribute *record_attrs[] = {
	&record_attr.attr,
	NULL,
};

static struct bin_attribute *records_attrs[] = {
	&bin_attr_records,
	NULL,
};

const struct attribute_group vpt_records_group = {
	.attrs = record_attrs,
	.bin_attrs = records_attrs,
};
