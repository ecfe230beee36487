/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual performance throttle: makes a disk of this machine keep the time of
 * a profiled one (PERFORM 2010 section 4, Jones 2010 section 4.3).
 *
 *	main.c          loading and unloading
 *	disks.c         which disks are throttled
 *	sysfs*.c        /sys/kernel/vpt: a folder of files for each
 *	attach.c        whether a disk can be throttled
 *	hooks.c         where the block layer is looked into
 *	picks.c         where elevators are
 *	recorder.c      what happened to each bio, for user space
 *	throttle.c      due times, held completions
 *	scaling.c       k, and how it finds itself
 *	requests.c      the requests between their pick and their completion
 *	model.c         the profile of a disk, and its limit
 *	disk.c          all that there is of one throttled disk
 *
 * Each stands on those below it and calls none above it: the throttle lets a held
 * request go by a function that it was given.  Below disks.c and hooks.c nothing
 * knows how many disks there are, and no lock is common to two of them but where disks
 * come and go.
 *
 * Locking, for each disk: a mutex, control, makes changes from user space one after
 * the other; a raw spinlock, lock, guards what the hooks change.  That one is taken
 * with interrupts off from every context (the hooks run in process context, soft and
 * hard interrupts, under drivers' locks), and nothing is called under it but core/
 * and hrtimer_start: it is a leaf but for the timer base's own lock.  Completions are
 * released after it is dropped.  Settings are changed under both, so they may be read
 * under either.
 */
#ifndef UNDERSTUDY_VPT_H
#define UNDERSTUDY_VPT_H

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#include "record.h"
#include "../../core/drive/device.h"
#include "../iosched/model.h"

/* The longest that a request may take: half of the block layer's time-out. */
#define VPT_HOLD_MAX_NS (15ULL * NSEC_PER_SEC)

/* Picked and not yet finished at once; more are counted as untracked, and more servers would
 * never be busy. */
#define VPT_REQUESTS_MAX 4096

/* So many of the last requests say whether k is right (Jones 2010 section 4.3.2). */
#define VPT_WINDOW 1000

/* Longest text of a table: room for TRACKS_ZONES_MAX of the longest rows. */
#define VPT_TABLE_TEXT_MAX SZ_512K

/* What user space sets of a disk, and the device that is modelled, in motion. */
struct vpt_model {
	struct timed_device
		device; /* first: offsets of its settings are offsets here */
	u64 scale_auto; /* k follows what is late */
	u64 subtract_overhead; /* a service begins when it could have */
	u64 record_groups; /* owners in the records are control groups, not processes */
};

/* One request between its pick and its completion. */
struct vpt_request {
	struct hlist_node by_rq;
	struct list_head held; /* in order of due time */
	struct request *rq;
	struct command command; /* to the modelled device */
	bool kept_back; /* by the elevator, while the disk was free */
	u64 id;
	u64 pick_ns, dispatch_ns;
	u16 flags; /* VPT_* but for VPT_HIT */
	u8 reason;
	enum {
		VPT_PICKED,
		VPT_ISSUED, /* the driver started it */
		VPT_HELD, /* the driver completed it before it was due */
		VPT_RELEASED, /* passed on; what comes after that is not judged again */
	} state;
};

/* All of them. */
struct vpt_requests {
	struct vpt_request *pool;
	struct hlist_head unused;
	DECLARE_HASHTABLE(tracked, 8);
	u32 nr_tracked; /* picked and not yet finished */
	u32 on_disk; /* of these, issued */
};

struct vpt_throttle {
	void (*complete)(struct request *rq); /* past our own hooks; interrupts off */
	bool holding;
	struct list_head held; /* that have a due time */
	struct hrtimer
		timer; /* for the first of the held, or the drive's next choice */
	u64 last_id;
	u64 in_vain_ns; /* the elevator was asked last, and handed out nothing */
	u64 free_ns[VPT_REQUESTS_MAX]; /* of an array's servers */
};

/* Which of the last requests were late, and how often k has followed. */
struct vpt_scaling {
	DECLARE_BITMAP(late, VPT_WINDOW);
	u32 next, judged, nr_late; /* in it */
};

/* Since the last reset. */
struct vpt_counters {
	u64 requests; /* dispatched to the disk */
	u64 completed;
	u64 failed; /* completed with an error */
	u64 late; /* the disk answered after the due time */
	u64 stale; /* picked while the drive had all that its queue takes */
	u64 held;
	u64 overshoot_ns; /* sum over held requests: release - due */
	u64 overshoot_max_ns;
	u64 overhead_ns; /* subtracted: from when a service could begin to its issue */
	u64 missed; /* completions that went past the throttle */
	u64 untracked; /* no room to track the request */
	u64 lost; /* bios that ended without a completion we saw */
	u64 pick_unseen; /* pick taken from the first issue */
	u64 scale_raised, scale_lowered; /* by itself */
};

struct vpt_recorder {
	struct vpt_record *records;
	struct vpt_pending *pending;
	u64 wanted, arrived, completed;
	DECLARE_HASHTABLE(in_flight, 10);
};

/* A table on its way in; what is missing comes from the same open file. */
struct vpt_table_text {
	struct file *file;
	size_t length;
	char *text;
};

/* One throttled disk. */
struct vpt_disk {
	struct kobject kobj;
	struct list_head among_disks; /* disks.c */
	struct mutex control;
	struct vpt_table_text incoming;
	struct curve_point line[2]; /* of a disk that nobody described */

	struct file *file; /* that keeps it open */
	struct block_device *bdev;
	struct request_queue *queue; /* its */
	struct hlist_node by_queue; /* hooks.c */
	struct vpt_watch *watch; /* on its elevator; NULL: it has none */

	raw_spinlock_t lock;
	struct vpt_model model;
	struct vpt_counters counters;
	struct vpt_requests requests;
	struct vpt_throttle throttle;
	struct vpt_scaling scaling;
	struct vpt_recorder recorder;
};

/* disk.c */
struct vpt_disk *vpt_disk_alloc(void);
void vpt_disk_free(struct vpt_disk *disk);

/* model.c: with control held */
void vpt_model_clear(struct vpt_disk *disk, u64 capacity_sectors);
/* Rows of a table that the model does not point to any more. */
void vpt_rows_free(struct vpt_disk *disk, const void *rows);
/* All of them, with the disk. */
void vpt_model_free(struct vpt_disk *disk);
/* Without k. */
u64 vpt_model_slowest_ns(const struct vpt_model *model, struct block_device *bdev);
/* 0, or -ERANGE and a line in the log: its slowest request looks like a dead disk. */
int vpt_model_check(const struct vpt_model *model, struct block_device *bdev);
/*
 * To be changed and checked before the disk's own is, and then to be freed with kvfree.
 * Only the settings in it mean something.  NULL: no memory.
 */
struct vpt_model *vpt_model_copy(struct vpt_disk *disk);

/* requests.c: all with the lock held unless noted */
int vpt_requests_init(struct vpt_requests *requests); /* not held */
void vpt_requests_exit(struct vpt_requests *requests); /* not held */
struct vpt_request *vpt_find(struct vpt_disk *disk, const struct request *rq);
/* NULL: there is no room. */
struct vpt_request *vpt_track(struct vpt_disk *disk, struct request *rq);
void vpt_untrack(struct vpt_disk *disk, struct vpt_request *vr);
void vpt_untrack_all(struct vpt_disk *disk);

/* scaling.c: all with the lock held */
void vpt_set_scale(struct vpt_disk *disk, u64 scale_milli);
/* A change was checked with the k of its copy, and k may have risen since. */
void vpt_keep_checked_scale(struct vpt_disk *disk, const struct vpt_model *changed);
/* It came before or after it was due. */
void vpt_judged(struct vpt_disk *disk, const struct vpt_request *vr);

/* throttle.c: all with the lock held unless noted */
void vpt_throttle_init(struct vpt_disk *disk); /* not held */
void vpt_throttle_reset(struct vpt_disk *disk);
void vpt_picked(struct vpt_disk *disk, struct request *rq, u64 now_ns, u8 reason);
void vpt_issued(struct vpt_disk *disk, struct request *rq, u64 now_ns);
void vpt_requeued(struct vpt_disk *disk, struct request *rq);
void vpt_finished(struct vpt_disk *disk, struct vpt_request *vr, bool failed);
/* Not held: takes the lock.  False: the caller completes it, now. */
bool vpt_hold(struct vpt_disk *disk, struct request *rq);
/* Not held.  From a reset on; complete releases a request. */
void vpt_start_holding(struct vpt_disk *disk);
/* Not held.  Stop holding, and complete what is held. */
void vpt_release_all(struct vpt_disk *disk);
/* What the drive would need for it, if it begins when it is free: a positioning_fn's answer. */
u64 vpt_positioning_ns(struct vpt_disk *disk, const struct io_request *io, u64 now_ns);
/* Not held.  Stop tracking: the hooks are gone. */
void vpt_forget_all(struct vpt_disk *disk);

/* recorder.c: all with the lock held unless noted */
void vpt_bio_arrived(struct vpt_disk *disk, struct bio *bio, u64 now_ns);
/* Of its first bio; of one that is not recorded, when the request was made.  0: nobody knows. */
u64 vpt_arrival_ns(struct vpt_disk *disk, const struct request *rq);
/* It ended without a request that we saw complete. */
void vpt_bio_lost(struct vpt_disk *disk, struct bio *bio);
/* The same, but one that may not wait and found no room (REQ_NOWAIT) was never there: it comes again. */
void vpt_bio_ended(struct vpt_disk *disk, struct bio *bio);
void vpt_bio_split(struct vpt_disk *disk, struct bio *front, struct bio *rest);
/* Its request was served, but it ends later: a flush is to follow. */
void vpt_bios_served(struct vpt_disk *disk, struct request *rq,
		     const struct vpt_request *vr);
void vpt_bios_completed(struct vpt_disk *disk, struct request *rq,
			const struct vpt_request *vr, int error, unsigned int bytes,
			u64 now_ns);
/* The rest not held, but control. */
int vpt_record_start(struct vpt_disk *disk, u64 arrivals);
void vpt_record_free(struct vpt_disk *disk);
size_t vpt_record_bytes(const struct vpt_disk *disk);

/* hooks.c: process context */
int vpt_hook(struct vpt_disk *disk);
void vpt_unhook(struct vpt_disk *disk);
/* Find the elevator's way to hand out requests again. */
int vpt_rehook_elevator(struct vpt_disk *disk);
bool vpt_is_throttled(const struct request_queue *q);
/* Any context. */
void vpt_pick_seen(struct request *rq);
void vpt_none_picked(struct request_queue *queue);

/* picks.c: process context, one call at a time.  By this function; 0: by none. */
int vpt_watch_elevator(struct vpt_disk *disk, unsigned long dispatch);

/* attach.c: process context */
int vpt_open(struct vpt_disk *disk, const char *path);
void vpt_close(struct vpt_disk *disk);
/* An open one is throttled from now on. */
int vpt_attach(struct vpt_disk *disk);
void vpt_detach(struct vpt_disk *disk);
/* Wait until no read of ours is on its way. */
void vpt_end_trials(void);

/* disks.c: process context */
int vpt_add(const char *path);
int vpt_remove(const char *name);
void vpt_remove_all(void);

/* sysfs.c */
int vpt_sysfs_init(void);
/* No disk comes or goes from user space any more; then the folder itself. */
void vpt_sysfs_close(void);
void vpt_sysfs_exit(void);
/* From here on vpt_sysfs_put frees the disk, also if there is an error. */
int vpt_sysfs_add(struct vpt_disk *disk);
/* The folder is gone, and nobody is in one of its files. */
void vpt_sysfs_del(struct vpt_disk *disk);
/* Frees the disk. */
void vpt_sysfs_put(struct vpt_disk *disk);

#endif
