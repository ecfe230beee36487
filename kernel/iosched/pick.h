/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a scheduler of the project passes on the reason for which it picked a request.  The reason is
 * stored in rq->elv.priv[1] together with a mark.  The mark distinguishes the reason from other
 * elevators' contents of this field (a kernel pointer or NULL).
 */
#ifndef UNDERSTUDY_PICK_H
#define UNDERSTUDY_PICK_H

#include <linux/blk-mq.h>

#define PICK_MARK 0x7069636b00000000UL

static inline void pick_reason_set(struct request *rq, u8 reason)
{
	rq->elv.priv[1] = (void *)(PICK_MARK | reason);
}

static inline u8 pick_reason_get(const struct request *rq)
{
	unsigned long mark = (unsigned long)rq->elv.priv[1];

	return (mark & ~0xffUL) == PICK_MARK ? mark & 0xff : 0;
}

#endif
