// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a disk's requests, from their pick to their completion.  The key of an entry is the
 * block layer's struct request.  The entry is removed at block_rq_complete, because the block layer
 * may then reuse the request's memory for another I/O.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "vpt.h"

struct vpt_request *vpt_find(struct vpt_disk *disk, const struct request *rq)
{
	struct vpt_request *vr;

	hash_for_each_possible (disk->requests.tracked, vr, by_rq, (unsigned long)rq) {
		if (vr->rq == rq)
			return vr;
	}
	return NULL;
}

struct vpt_request *vpt_track(struct vpt_disk *disk, struct request *rq)
{
	struct vpt_requests *requests = &disk->requests;
	struct vpt_request *vr;

	if (hlist_empty(&requests->unused)) {
		disk->counters.untracked++;
		return NULL;
	}
	vr = hlist_entry(requests->unused.first, struct vpt_request, by_rq);
	hlist_del(&vr->by_rq);
	memset(vr, 0, sizeof(*vr));
	vr->rq = rq;
	hash_add(requests->tracked, &vr->by_rq, (unsigned long)rq);
	requests->nr_tracked++;
	return vr;
}

void vpt_untrack(struct vpt_disk *disk, struct vpt_request *vr)
{
	hash_del(&vr->by_rq);
	disk->requests.nr_tracked--;
	vr->rq = NULL;
	hlist_add_head(&vr->by_rq, &disk->requests.unused);
}

void vpt_untrack_all(struct vpt_disk *disk)
{
	struct vpt_request *pool = disk->requests.pool;
	u32 i;

	for (i = 0; i < VPT_REQUESTS_MAX; i++) {
		if (pool[i].rq)
			vpt_untrack(disk, &pool[i]);
	}
	disk->requests.on_disk = 0;
}

int vpt_requests_init(struct vpt_requests *requests)
{
	u32 i;

	requests->pool =
		kvcalloc(VPT_REQUESTS_MAX, sizeof(*requests->pool), GFP_KERNEL);
	if (!requests->pool)
		return -ENOMEM;
	hash_init(requests->tracked);
	for (i = 0; i < VPT_REQUESTS_MAX; i++)
		hlist_add_head(&requests->pool[i].by_rq, &requests->unused);
	return 0;
}

void vpt_requests_exit(struct vpt_requests *requests)
{
	kvfree(requests->pool);
}
