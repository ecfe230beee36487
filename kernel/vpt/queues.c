// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the throttled disk of a queue.  The hooks in the block layer do this for each request, so
 * the disks are in a hash table that is read under RCU.  hooks.c changes the table with hooks_mutex
 * held.
 */
#include <linux/blkdev.h>
#include <linux/rculist.h>

#include "vpt.h"

static DEFINE_HASHTABLE(throttled, 8); /* by queue */

struct vpt_disk *vpt_disk_of_queue(const struct request_queue *q)
{
	struct vpt_disk *disk;

	hash_for_each_possible_rcu(throttled, disk, by_queue, (unsigned long)q)
	{
		if (disk->queue == q)
			return disk;
	}
	return NULL;
}

struct vpt_disk *vpt_disk_of_request(struct request *rq)
{
	return blk_rq_is_passthrough(rq) ? NULL : vpt_disk_of_queue(rq->q);
}

bool vpt_is_throttled(const struct request_queue *q)
{
	bool found;

	rcu_read_lock();
	found = vpt_disk_of_queue(q);
	rcu_read_unlock();
	return found;
}

void vpt_queue_add(struct vpt_disk *disk)
{
	hash_add_rcu(throttled, &disk->by_queue, (unsigned long)disk->queue);
}

void vpt_queue_remove(struct vpt_disk *disk)
{
	hash_del_rcu(&disk->by_queue);
}
