// SPDX-License-Identifier: GPL-2.0
/* Loading and unloading of the throttle. */
#include <linux/module.h>

#include "vpt.h"

static int __init vpt_init(void)
{
	return vpt_sysfs_init();
}

static void __exit vpt_exit(void)
{
	vpt_sysfs_close();
	vpt_remove_all();
	vpt_end_trials();
	vpt_sysfs_exit();
}

module_init(vpt_init);
module_exit(vpt_exit);
MODULE_DESCRIPTION("Virtual performance throttle: gives disks the time of others");
MODULE_LICENSE("GPL");
