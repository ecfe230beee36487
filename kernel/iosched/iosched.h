/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the shim share.  Each module is all of them linked with one
 * core/schedulers/NAME.c.
 *
 *	iosched.c        the elevator
 *	sysfs.c          the scheduler's tunables and counters
 *	tape_recorder.c  every call into the scheduler, if it is wanted
 */
#ifndef UNDERSTUDY_IOSCHED_H
#define UNDERSTUDY_IOSCHED_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "model.h"
#include "../../core/contract.h"
#include "../../core/tape.h"

/* One disk that has our scheduler; iosched.c says what its lock guards. */
struct iosched {
	spinlock_t lock;
	struct request_queue *q;
	void *state; /* the core scheduler's */
	struct contract contract; /* through which it is called */
	positioning_fn
		*positioning; /* of a disk whose model the scheduler asks, or NULL */
	u64 capacity_sectors; /* as the scheduler knows it */
	struct rb_root sorted[IO_OPS]; /* for front merges */
	struct list_head direct; /* not for the scheduler: served first */
	struct list_head overflow; /* no slot free: waiting for one */
	struct slot *slots, *free, **free_end;
	u64 next_id;
	bool told; /* the log has the rule that was broken */
	bool waiting; /* the scheduler said "none" and nothing changed since */
	struct hrtimer wake;
	struct tape *tape; /* NULL: nobody listens */
};

/* sysfs.c: filled once, before the elevator is registered; ends with an empty one */
extern struct elv_fs_entry iosched_attributes[];
void iosched_fill_attributes(void);

/* tape_recorder.c: begin and end in process context, one disk at a time */
int tape_init(void);
void tape_exit(void);
/* NULL if no tape is wanted or another disk is on it. */
struct tape *tape_begin(const struct sched_limits *limits);
void tape_end(struct tape *tape);
/* With the lock of the disk that is on the tape held. */
void tape_record(struct tape *tape, const struct tape_call *call);

#endif
