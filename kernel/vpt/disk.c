// SPDX-License-Identifier: GPL-2.0
/* Allocates and frees throttled disks. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "vpt.h"

struct vpt_disk *vpt_disk_alloc(void)
{
	struct vpt_disk *disk = kvzalloc(sizeof(*disk), GFP_KERNEL);

	if (!disk)
		return NULL;
	mutex_init(&disk->control);
	raw_spin_lock_init(&disk->lock);
	hash_init(disk->recorder.in_flight);
	vpt_throttle_init(disk);
	vpt_model_clear(disk, 0);
	if (vpt_requests_init(&disk->requests)) {
		vpt_disk_free(disk);
		return NULL;
	}
	return disk;
}

void vpt_disk_free(struct vpt_disk *disk)
{
	vpt_requests_exit(&disk->requests);
	vpt_model_free(disk);
	kvfree(disk->incoming.text);
	kvfree(disk);
}
