/* SPDX-License-Identifier: GPL-2.0 */
/*
 * To which control group an I/O belongs, as the block layer accounts for it: that of the process
 * which asked for it, or, of what a kernel thread writes back, of the process that wrote it, if the
 * groups have the memory and the io controller of version 2 and the file system says whose pages
 * are whose (ext4 does).
 */
#ifndef UNDERSTUDY_OWNER_H
#define UNDERSTUDY_OWNER_H

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

#define OWNER_ROOT_GROUP 1 /* also whoever belongs to no group, a journal for one */

/* The group's number, which is that of its folder (stat -c %i). */
static inline u32 owner_group(struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return css ? cgroup_id(css->cgroup) : OWNER_ROOT_GROUP;
}

#endif
