/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The parts of a drive; core/drive/drive.h describes its operations. */
#ifndef UNDERSTUDY_PARTS_H
#define UNDERSTUDY_PARTS_H

#include "bus.h"
#include "disk_cache.h"
#include "write_back.h"

/**
 * struct drive - a drive and its state
 * @disk: mechanics
 * @arm: position of the arm
 * @bus: bus to the host
 * @cache: the papers' cache
 * @buffered: the drive has a buffer, which consists of @ahead and @writes, and does not use @cache
 * @ahead: segments and read-ahead
 * @writes: writes not yet destaged
 * @done_ns: when the last request completed
 * @queue_depth: number of the oldest pending commands among which the drive chooses
 *	(core/drive/command_queue.h), up to QUEUE_DEPTH_MAX; 0 or 1: the drive serves commands in
 *	order of arrival
 * @queue_age_ns: a command that has waited this long goes before all others
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
