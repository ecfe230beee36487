/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual performance throttle: makes a disk of this machine keep the time of
 * a profiled one (PERFORM 2010 section 4, Jones 2010 section 4.3).
 *
 *	hooks.c      where it looks into the block layer, and which disk
 *	throttle.c   service times, due times, held completions
 *	recorder.c   what happened to each bio, for user space
 *	sysfs.c      /sys/kernel/vpt
 *
 * Locking: one raw spinlock, vpt_lock, guards the throttle and the recorder.  It
 * is taken with interrupts off from every context (the hooks run in process
 * context, soft and hard interrupts, under drivers' locks), and nothing is called
 * under it but core/ and hrtimer_start: it is a leaf but for the timer base's
 * own lock.  Completions are released after it is dropped.
 */
#ifndef UNDERSTUDY_VPT_H
#define UNDERSTUDY_VPT_H

#include <linux/blk-mq.h>
#include <linux/spinlock.h>

#include "record.h"
#include "../../core/drive.h"

extern raw_spinlock_t vpt_lock;

/* One request between its pick and its completion. */
struct vpt_request {
	struct hlist_node by_rq;
	struct list_head held; /* in order of due time */
	struct request *rq;
	u64 id;
	u64 pick_ns, dispatch_ns, due_ns;
	u64 model_service_ns;
	u16 flags; /* VPT_* */
	u8 reason;
	enum { VPT_PICKED, VPT_ISSUED, VPT_HELD, VPT_RELEASED } state;
};

/* Since the last reset; read by sysfs. */
struct vpt_counters {
	u64 requests; /* dispatched to the disk */
	u64 completed;
	u64 failed; /* completed with an error */
	u64 late; /* the disk answered after the due time */
	u64 stale; /* picked while another request was picked or being served */
	u64 held;
	u64 overshoot_ns; /* sum over held requests: release - due */
	u64 overshoot_max_ns;
	u64 missed; /* completions that went past the throttle */
	u64 untracked; /* no room to track the request */
	u64 lost; /* bios that ended without a completion we saw */
	u64 pick_unseen; /* pick taken from the first issue */
};

/* throttle.c: all with vpt_lock held unless noted */
extern struct drive vpt_drive;
extern struct vpt_counters vpt_counters;
extern u64 vpt_scale_milli;

int vpt_throttle_init(void);
void vpt_throttle_exit(void);
void vpt_throttle_reset(void);
struct vpt_request *vpt_find(const struct request *rq);
void vpt_picked(struct request *rq, u64 now_ns, u8 reason);
void vpt_issued(struct request *rq, u64 now_ns);
void vpt_finished(struct vpt_request *vr, bool failed);
/* Not held: takes the lock.  True: it completes later, by itself. */
bool vpt_hold(struct request *rq);
/* Not held.  Stop holding, and complete what is held. */
void vpt_release_all(void);
void vpt_start_holding(void);
/* Not held.  Stop tracking: the hooks are gone. */
void vpt_forget_all(void);

/* recorder.c: all with vpt_lock held unless noted */
void vpt_bio_arrived(struct bio *bio, u64 now_ns);
/* It ended without a request that we saw complete. */
void vpt_bio_lost(struct bio *bio);
void vpt_bio_split(struct bio *front, struct bio *rest);
void vpt_bios_completed(struct request *rq, struct vpt_request *vr, int error,
			unsigned int bytes, u64 now_ns);
/* Not held. */
int vpt_record_start(u64 arrivals);
void vpt_record_free(void);
void vpt_record_progress(u64 *wanted, u64 *arrived, u64 *completed);
size_t vpt_record_bytes(void);
const void *vpt_record_data(void);

/* hooks.c: process context */
int vpt_attach(const char *path);
void vpt_detach(void);
/* Complete a request past our own hook; interrupts off. */
void vpt_complete(struct request *rq);
/* The name of the disk; empty if none. */
const char *vpt_disk_name(void);
/* The longest request that the block layer makes for it. */
u32 vpt_disk_max_sectors(void);
/* Find the elevator's way to hand out requests again. */
int vpt_rehook_elevator(void);

/* sysfs.c */
int vpt_sysfs_init(void);
void vpt_sysfs_exit(void);

#endif
