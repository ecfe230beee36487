/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control group that owns an I/O, as the block layer accounts for I/O.  The owner is the group
 * of the process that submitted the I/O.  If a kernel thread writes back data, the owner is the
 * group of the process that wrote the data to the page cache.  This accounting requires control
 * groups of version 2 with the memory and io controllers, and a file system that tracks the owners
 * of pages (ext4 does).
 */
#ifndef UNDERSTUDY_OWNER_H
#define UNDERSTUDY_OWNER_H

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

#define OWNER_ROOT_GROUP 1 /* also for I/O without a group, such as that of a journal */

/* Returns the group's number, which is the inode number of the group's folder (stat -c %i). */
static inline u32 owner_group(struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return css ? cgroup_id(css->cgroup) : OWNER_ROOT_GROUP;
}

#endif
