// SPDX-License-Identifier: GPL-2.0
/* Loading and unloading of the throttle. */
#include <linux/module.h>

#include "vpt.h"

static struct vpt_disk *the_disk; /* so far there is a place for one */

static int __init vpt_init(void)
{
	the_disk = vpt_disk_alloc();
	if (!the_disk)
		return -ENOMEM;
	return vpt_sysfs_add(the_disk, "vpt");
}

static void __exit vpt_exit(void)
{
	vpt_sysfs_del(the_disk);
	vpt_detach(the_disk);
	vpt_end_trial(the_disk);
	vpt_record_free(the_disk);
	vpt_sysfs_put(the_disk);
}

module_init(vpt_init);
module_exit(vpt_exit);
MODULE_DESCRIPTION("Virtual performance throttle: gives a disk the time of another");
MODULE_LICENSE("GPL");
