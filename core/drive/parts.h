/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What a drive consists of; what it does is in core/drive/drive.h. */
#ifndef UNDERSTUDY_PARTS_H
#define UNDERSTUDY_PARTS_H

#include "bus.h"
#include "disk_cache.h"
#include "write_back.h"

/**
 * struct drive - a drive in motion
 * @disk: mechanics
 * @arm: where it is
 * @bus: to the host
 * @cache: the papers' cache
 * @buffered: it has a buffer, which is the next two, and @cache is not looked at
 * @ahead: its segments, and what is read ahead
 * @writes: what waits for the medium
 * @done_ns: the last request was complete
 * @queue_depth: among so many that wait it chooses (core/drive/command_queue.h), up to
 *	QUEUE_DEPTH_MAX; 0 or 1: it takes them in the order in which they came
 * @queue_age_ns: one that has waited for so long goes before all others
 */
struct drive {
	struct disk disk;
	struct arm arm;
	struct bus bus;
	struct disk_cache cache;
	u64 buffered;
	struct read_ahead ahead;
	struct write_back writes;
	u64 done_ns;
	u64 queue_depth;
	u64 queue_age_ns;
};

#endif
