// SPDX-License-Identifier: GPL-2.0
/*
 * The list of throttled disks.  A disk can be in the list only once.  The number of disks is
 * limited only by memory (about 1 MB for each).
 *
 * Disks are added and removed one at a time.  If a disk does not respond while it is being added,
 * processes that wait to add or remove another disk can be killed.  Disks that are already
 * throttled are not affected.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/list.h>
#include <linux/string.h>

#include "vpt.h"

static DEFINE_MUTEX(disks_mutex);
static LIST_HEAD(disks);

static struct vpt_disk *find(const char *name)
{
	struct vpt_disk *disk;

	list_for_each_entry (disk, &disks, among_disks) {
		if (!strcmp(kobject_name(&disk->kobj), name))
			return disk;
	}
	return NULL;
}

static bool is_throttled(const struct block_device *bdev)
{
	struct vpt_disk *disk;

	list_for_each_entry (disk, &disks, among_disks) {
		/* The name may be that of a disk that was unplugged. */
		if (!strcmp(disk->bdev->bd_disk->disk_name, bdev->bd_disk->disk_name))
			return true;
	}
	return false;
}

/* Adds an open disk.  The caller loses the disk even if this function fails. */
static int add_open(struct vpt_disk *disk)
{
	int ret = is_throttled(disk->bdev) ? -EBUSY : vpt_attach(disk);

	if (ret) {
		vpt_close(disk);
		vpt_disk_free(disk);
		return ret;
	}
	ret = vpt_sysfs_add(disk);
	if (ret) {
		vpt_detach(disk);
		vpt_close(disk);
		vpt_sysfs_put(disk);
		return ret;
	}
	list_add_tail(&disk->among_disks, &disks);
	return 0;
}

int vpt_add(const char *path)
{
	struct vpt_disk *disk = vpt_disk_alloc();
	int ret;

	if (!disk)
		return -ENOMEM;
	ret = vpt_open(disk, path);
	if (ret) {
		vpt_disk_free(disk);
		return ret;
	}
	if (mutex_lock_killable(&disks_mutex)) {
		vpt_close(disk);
		vpt_disk_free(disk);
		return -EINTR;
	}
	ret = add_open(disk);
	mutex_unlock(&disks_mutex);
	return ret;
}

/* Removes the disk's files first, so that nobody can change its settings during the removal. */
static void remove(struct vpt_disk *disk)
{
	list_del(&disk->among_disks);
	vpt_sysfs_del(disk);
	vpt_detach(disk);
	vpt_close(disk);
	vpt_record_free(disk);
	vpt_sysfs_put(disk);
}

int vpt_remove(const char *name)
{
	struct vpt_disk *disk;

	if (mutex_lock_killable(&disks_mutex))
		return -EINTR;
	disk = find(name);
	if (disk)
		remove(disk);
	mutex_unlock(&disks_mutex);
	return disk ? 0 : -ENODEV;
}

void vpt_remove_all(void)
{
	struct vpt_disk *disk, *next;

	mutex_lock(&disks_mutex);
	list_for_each_entry_safe (disk, next, &disks, among_disks)
		remove(disk);
	mutex_unlock(&disks_mutex);
}
