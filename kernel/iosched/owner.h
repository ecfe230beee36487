/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control group that owns an I/O, as the block layer accounts for it: the group of the process
 * that submitted the I/O.  For the write-back of a kernel thread it is the group of the process
 * that wrote the data.  This needs groups with the memory and io controllers of version 2, and a
 * file system that tracks the owners of pages (ext4 does).
 */
#ifndef UNDERSTUDY_OWNER_H
#define UNDERSTUDY_OWNER_H

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

#define OWNER_ROOT_GROUP 1 /* also for I/O without a group, such as a journal's */

/* The group's number: the inode number of its folder (stat -c %i). */
static inline u32 owner_group(struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return css ? cgroup_id(css->cgroup) : OWNER_ROOT_GROUP;
}

#endif
