// SPDX-License-Identifier: GPL-2.0
/* Loading and unloading of the throttle. */
#include <linux/module.h>

#include "vpt.h"

static int __init vpt_init(void)
{
	int ret = vpt_throttle_init();

	if (ret)
		return ret;
	ret = vpt_sysfs_init();
	if (ret)
		vpt_throttle_exit();
	return ret;
}

static void __exit vpt_exit(void)
{
	vpt_sysfs_exit();
	vpt_detach();
	vpt_record_free();
	vpt_throttle_exit();
}

module_init(vpt_init);
module_exit(vpt_exit);
MODULE_DESCRIPTION("Virtual performance throttle: gives a disk the time of another");
MODULE_LICENSE("GPL");
