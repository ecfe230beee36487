// SPDX-License-Identifier: GPL-2.0
/*
 * What the modelled device takes for a request: a disk by its drive (core/drive/drive.h), whose clock k
 * slows down, an array by its draws, in order of dispatch (core/drive/array.h).
 */
#include <linux/blk-mq.h>
#include <linux/math64.h>

#include "vpt.h"

/* What the model drive's clock says at that time, which is not before its last start. */
u64 vpt_model_clock_ns(const struct vpt_disk *disk, u64 at_ns)
{
	const struct vpt_throttle *throttle = &disk->throttle;
	u64 since_ns;

	if (at_ns <= throttle->model_at_ns)
		return throttle->model_ns;
	/* The quotient has to be a u64: after half a year the drive has been idle for as long. */
	since_ns = min(at_ns - throttle->model_at_ns, U64_MAX / 1000);
	return throttle->model_ns +
	       mul_u64_u64_div_u64(since_ns, 1000, disk->model.scale_milli);
}

/* k may change afterwards. */
void vpt_move_model_clock(struct vpt_disk *disk, u64 start_ns)
{
	struct vpt_throttle *throttle = &disk->throttle;

	throttle->model_ns = vpt_model_clock_ns(disk, start_ns);
	throttle->model_at_ns = start_ns;
}

u64 vpt_drive_service_ns(struct vpt_disk *disk, struct vpt_request *vr, u64 start_ns)
{
	struct drive *drive = &disk->model.drive;
	struct request *rq = vr->rq;
	bool hit = false;
	u64 now_ns, ns;

	vpt_move_model_clock(disk, start_ns);
	now_ns = disk->throttle.model_ns;
	if (req_op(rq) == REQ_OP_FLUSH)
		return drive_flush(drive, now_ns);
	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return 0;
	if (req_op(rq) == REQ_OP_WRITE && rq->cmd_flags & REQ_FUA)
		return drive_serve_through(drive, blk_rq_pos(rq), blk_rq_sectors(rq),
					   now_ns);
	ns = drive_serve(drive, req_op(rq) == REQ_OP_READ ? IO_READ : IO_WRITE,
			 blk_rq_pos(rq), blk_rq_sectors(rq), now_ns, &hit);
	if (hit)
		vr->flags |= VPT_HIT;
	return ns;
}

/* Only what moves data takes a server. */
void vpt_serve_in_array(struct vpt_disk *disk, struct vpt_request *vr, u64 now_ns)
{
	struct vpt_throttle *throttle = &disk->throttle;
	struct request *rq = vr->rq;

	vr->due_ns = now_ns;
	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return;
	vr->model_service_ns = array_service_ns(&disk->model.array, &throttle->draw);
	vr->due_ns = servers_start_ns(&throttle->servers, now_ns) +
		     vpt_model_scaled_ns(&disk->model, vr->model_service_ns);
	servers_occupy(&throttle->servers, vr->due_ns);
}
