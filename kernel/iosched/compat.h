/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Includes the block layer's private headers and hides their differences between kernel versions.
 * No other file under kernel/iosched or kernel/vpt checks the kernel's version.
 */
#ifndef UNDERSTUDY_COMPAT_H
#define UNDERSTUDY_COMPAT_H

#include <linux/version.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"
#include "elevator.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) || \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#error "understudy supports the block layer of Linux 6.1 to 6.12; add this version to compat.h"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
typedef bool blk_insert_t;
#define BLK_MQ_INSERT_AT_HEAD true
#define RQF_USE_SCHED RQF_ELVPRIV
#endif

/*
 * Returns the dispatch function of the queue's elevator.  The elevator's module stays loaded until
 * module_put(*owner).  Returns NULL, and sets no owner, if the queue has no elevator.
 */
static inline void *elevator_dispatch_get(struct request_queue *q,
					  struct module **owner)
{
	void *dispatch = NULL;

	*owner = NULL;
	mutex_lock(&q->sysfs_lock);
	if (q->elevator) {
		dispatch = q->elevator->type->ops.dispatch_request;
		*owner = q->elevator->type->elevator_owner;
		__module_get(*owner);
	}
	mutex_unlock(&q->sysfs_lock);
	return dispatch;
}

#endif
