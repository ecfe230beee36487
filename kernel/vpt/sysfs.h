/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the source files that create a disk's folder in /sys/kernel/vpt. */
#ifndef UNDERSTUDY_VPT_SYSFS_H
#define UNDERSTUDY_VPT_SYSFS_H

#include <linux/sysfs.h>

#include "vpt.h"

extern const struct attribute_group vpt_settings_group; /* sysfs_settings.c */
/* Must be called before the first folder is created. */
void vpt_declare_settings(void);
extern const struct attribute_group vpt_curves_group; /* sysfs_curves.c */
extern const struct attribute_group vpt_records_group; /* sysfs_records.c */

static inline struct vpt_disk *vpt_disk_of(struct kobject *kobj)
{
	return container_of(kobj, struct vpt_disk, kobj);
}

#endif
