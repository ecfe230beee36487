/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the shim share.  Each module is all of them linked with one
 * core/schedulers/NAME.c.
 *
 *	iosched.c    the elevator
 *	sysfs.c      the scheduler's tunables and counters
 */
#ifndef UNDERSTUDY_IOSCHED_H
#define UNDERSTUDY_IOSCHED_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "../../core/scheduler.h"

/* One disk that has our scheduler; iosched.c says what its lock guards. */
struct iosched {
	spinlock_t lock;
	struct request_queue *q;
	void *state; /* the core scheduler's */
	struct rb_root sorted[IO_OPS]; /* for front merges */
	struct list_head direct; /* not for the scheduler: served first */
	struct list_head overflow; /* no slot free: waiting for one */
	struct slot *slots, *free;
	u64 next_id;
	u32 in_service; /* requests of ours that are on the disk */
	bool waiting; /* the scheduler said "none" and nothing changed since */
	struct hrtimer wake;
};

/* sysfs.c: filled once, before the elevator is registered; ends with an empty one */
extern struct elv_fs_entry iosched_attributes[];
int iosched_fill_attributes(void);

#endif
