/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parts of a request's service time: moving the arm, waiting for the first sector, transferring
 * the sectors, and the rest, which is the cache's.
 *
 * The drive tells only the sum. The parts follow from the position of the arm before the request,
 * by the same functions of the core. A drive without a buffer has exactly these parts. With a buffer
 * that works in time they overlap; each part then is at most what the parts before it left.
 */
#ifndef VESPER_SHARES_H
#define VESPER_SHARES_H

#include "../core/drive/device.h"

struct shares {
	u64 seek_ns;
	u64 rotation_ns;
	u64 transfer_ns;
	u64 cache_ns;
};

/* Return the sector at which the head is when the drive can begin a request at now_ns. */
u64 shares_head(const struct drive *drive, u64 now_ns);

/* Return the parts of a command that has begun, if the head was at `head` before. */
struct shares shares_of(const struct drive *drive, const struct command *command,
			u64 head, u64 start_ns);

#endif
