/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the project's schedulers get a request's positioning time on a disk with a model.  The
 * positioning time is the time until the request's first sector is under the head
 * (core/scheduler.h, positioning_ns).
 *
 * The module with the models (kernel/vpt) exports vpt_model_of.  The shim looks it up by name when
 * a disk chooses a scheduler that needs a model, so neither module depends on the other.  The
 * module with the model stays loaded while that scheduler is in use.
 */
#ifndef UNDERSTUDY_MODEL_H
#define UNDERSTUDY_MODEL_H

#include <linux/blkdev.h>

#include "../../core/request.h"

/*
 * The first argument is the queue.  May be called with interrupts off, and with any lock held
 * except the model's own.  Returns 0 if the disk no longer has a model.
 */
typedef u64 positioning_fn(void *queue, const struct io_request *rq, u64 now_ns);

/* Returns NULL if the disk has no model. */
positioning_fn *vpt_model_of(struct request_queue *q);

#endif
