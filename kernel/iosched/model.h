/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the project's schedulers get positioning times on a disk with a model.  A request's
 * positioning time is the time until its first sector is under the head (core/scheduler.h,
 * positioning_ns).
 *
 * The module with the models (kernel/vpt) exports vpt_model_of.  The shim looks up this function by
 * name when a disk chooses a scheduler that needs a model, so neither module depends on the other.
 * The module with the model stays loaded while that scheduler is in use.
 */
#ifndef UNDERSTUDY_MODEL_H
#define UNDERSTUDY_MODEL_H

#include <linux/blkdev.h>

#include "../../core/request.h"

/*
 * The first argument is the queue.  May be called with interrupts off, and with any lock held
 * except the model's own.  Returns 0 if the disk has lost its model.
 */
typedef u64 positioning_fn(void *queue, const struct io_request *rq, u64 now_ns);

/* Returns NULL if the disk has no model. */
positioning_fn *vpt_model_of(struct request_queue *q);

#endif
