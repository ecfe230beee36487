/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What our schedulers may learn of a disk that somebody models: how long a request would take
 * until its first sector is under the head (core/scheduler.h, positioning_ns).
 *
 * Who has models (kernel/vpt) exports vpt_model_of.  The shim looks it up by name when a disk
 * chooses a scheduler that asks, so neither module needs the other; while that scheduler is in
 * use the module with the model stays.
 */
#ifndef UNDERSTUDY_MODEL_H
#define UNDERSTUDY_MODEL_H

#include <linux/blkdev.h>

#include "../../core/request.h"

/*
 * Takes the queue, and may be asked with interrupts off and any lock held but the model's own.
 * A disk that has lost its model since answers 0 for all.
 */
typedef u64 positioning_fn(void *queue, const struct io_request *rq, u64 now_ns);

/* NULL: it has no model. */
positioning_fn *vpt_model_of(struct request_queue *q);

#endif
