/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a request would wait until its first sector passes under the head, if the drive
 * began with it at a given time: what a drive that queues commands, or a scheduler that
 * knows the drive, chooses by (Worthington, Ganger and Patt 1994).
 *
 * One that the cache holds, and a write that it takes, waits for its hit.  Of a latency that
 * would be drawn the mean counts, half a rotation, and nothing is drawn.
 */
#ifndef UNDERSTUDY_ESTIMATE_H
#define UNDERSTUDY_ESTIMATE_H

#include "drive.h"

/**
 * estimate_ns - the estimate for one request
 * @drive: the drive; what has happened in its buffer up to then is computed, as the next
 *	request would have it computed.  Nothing else changes, and no request takes another
 *	time because somebody has estimated
 * @op: enum io_op
 * @sector: first sector
 * @sectors: length
 * @start_ns: as for drive_serve
 */
u64 estimate_ns(struct drive *drive, u8 op, u64 sector, u32 sectors, u64 start_ns);

/* The same for drive_serve_through. */
u64 estimate_through_ns(struct drive *drive, u64 sector, u64 start_ns);

#endif
