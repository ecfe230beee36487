/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual performance throttle: makes a disk of this machine take as long as a profiled disk
 * (PERFORM 2010 section 4, Jones 2010 section 4.3).
 *
 *	main.c          loading and unloading
 *	sysfs*.c        /sys/kernel/vpt: a folder of files for each disk
 *	disks.c         which disks are throttled
 *	attach.c        checks whether a disk can be throttled
 *	hooks.c         the hooks in the block layer
 *	picks.c         the hooks in elevators
 *	queues.c        which queue belongs to a throttled disk
 *	disk.c          a throttled disk: its allocation and its end
 *	throttle.c      due times, held completions
 *	recorder.c      what happened to each bio, for user space
 *	scaling.c       k, and how k follows late requests
 *	requests.c      the requests between their pick and their completion
 *	model.c         the profile of a disk, and its limit
 *
 * A file calls only files below it, with two exceptions: disks.c makes and removes the folder of a
 * disk in sysfs.c, and the throttle completes a held request through a function pointer from
 * hooks.c.  Only sysfs.c, disks.c, attach.c, hooks.c, picks.c and queues.c have state that several
 * disks share.  Disks share a lock only where one of them is added, removed or hooked to another
 * elevator.
 *
 * Locking, for each disk: the mutex control serialises changes from user space.  The raw spinlock
 * lock guards what the hooks change.  Hooks run in process context, in soft and hard interrupts and
 * under drivers' locks, so lock is always taken with interrupts off.  Under lock the throttle calls
 * only core/ and hrtimer_start, so lock is a leaf but for the timer base's own lock.  Completions
 * are released after lock is dropped.  Settings are changed under both, so they may be read under
 * either.
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

/*
 * Limit for requests that are picked and not yet finished.  Further requests are counted as
 * untracked.  More servers than this would never be busy.
 */
#define VPT_REQUESTS_MAX 4096

/* k follows this many of the last requests (Jones 2010 section 4.3.2). */
#define VPT_WINDOW 1000

/* Longest text of a table: room for TRACKS_ZONES_MAX of the longest rows. */
#define VPT_TABLE_TEXT_MAX SZ_512K

/* The settings from user space, and the state of the modelled device. */
struct vpt_model {
	struct timed_device
		device; /* first, so that offsets in it are offsets in vpt_model */
	u64 scale_auto; /* k follows late requests */
	u64 subtract_overhead; /* a service begins when a free drive would have begun it */
	u64 record_groups; /* owners in the records are control groups, not processes */
};

/* One request between its pick and its completion. */
struct vpt_request {
	struct hlist_node by_rq;
	struct list_head held; /* in order of due time */
	struct request *rq;
	struct command command; /* for the modelled device */
	bool kept_back; /* the elevator kept it back while the disk was free */
	u64 id;
	u64 pick_ns, dispatch_ns;
	u16 flags; /* VPT_*, without VPT_HIT */
	u8 reason;
	enum {
		VPT_PICKED,
		VPT_ISSUED, /* the driver started it */
		VPT_HELD, /* the driver completed it before it was due */
		VPT_RELEASED, /* passed on; later events are ignored */
	} state;
};

/* All tracked requests of a disk. */
struct vpt_requests {
	struct vpt_request *pool;
	struct hlist_head unused;
	DECLARE_HASHTABLE(tracked, 8);
	u32 nr_tracked; /* picked and not yet finished */
	u32 on_disk; /* issued and not yet finished */
};

struct vpt_throttle {
	void (*complete)(struct request *rq); /* bypasses our hooks; interrupts off */
	bool holding;
	struct list_head held; /* the held requests that have a due time */
	struct hrtimer
		timer; /* for the first held request, or the drive's next choice */
	u64 last_id;
	u64 in_vain_ns; /* when the elevator last had nothing to dispatch */
	u64 free_ns[VPT_REQUESTS_MAX]; /* when each server of an array is free */
};

/* Which of the last requests were late. */
struct vpt_scaling {
	DECLARE_BITMAP(late, VPT_WINDOW);
	u32 next, judged, nr_late; /* requests in the window, and the late ones */
};

/* All since the last reset. */
struct vpt_counters {
	u64 requests; /* dispatched to the disk */
	u64 completed;
	u64 failed; /* completed with an error */
	u64 late; /* the disk answered after the due time */
	u64 stale; /* picked while the drive's queue was full */
	u64 held;
	u64 overshoot_ns; /* sum over held requests: release - due */
	u64 overshoot_max_ns;
	u64 overhead_ns; /* time between a service's possible begin and its issue, subtracted */
	u64 missed; /* completions that bypassed the throttle */
	u64 untracked; /* no room to track the request */
	u64 lost; /* bios that ended without a completion that the hooks saw */
	u64 pick_unseen; /* requests without a seen pick: the first issue counts as pick */
	u64 scale_raised, scale_lowered; /* by scale_auto */
};

struct vpt_recorder {
	struct vpt_record *records;
	struct vpt_pending *pending;
	u64 wanted, arrived, completed;
	DECLARE_HASHTABLE(in_flight, 10);
};

/* A table that user space has written in part; the rest comes from the same open file. */
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
	struct curve_point line[2]; /* seek curve of a disk without a profile */

	struct file *file; /* keeps the disk open */
	struct block_device *bdev;
	struct request_queue *queue; /* of the disk */
	struct hlist_node by_queue; /* queues.c */
	struct vpt_watch *watch; /* on its elevator; NULL: no elevator */

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
/* Frees rows of a table to which the model no longer points. */
void vpt_rows_free(struct vpt_disk *disk, const void *rows);
/* Frees all rows, when the disk goes. */
void vpt_model_free(struct vpt_disk *disk);
/* The slowest request's service time, unscaled. */
u64 vpt_model_slowest_ns(const struct vpt_model *model, struct block_device *bdev);
/*
 * 0, -EINVAL for contradictory settings, or -ERANGE: a setting is over its limit, or the slowest
 * request takes so long that the disk would look dead (a line in the log says so).
 */
int vpt_model_check(const struct vpt_model *model, struct block_device *bdev);
/*
 * A copy of the model, to change and check before the disk's own model is changed.  Only the
 * settings in the copy are meaningful.  The caller frees it with kvfree.  NULL: no memory.
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
/* The caller checked a change with the k of its copy.  If k has risen since, lower it again. */
void vpt_keep_checked_scale(struct vpt_disk *disk, const struct vpt_model *changed);
/* Counts a completion as early or late, and adapts k. */
void vpt_judged(struct vpt_disk *disk, const struct vpt_request *vr);

/* throttle.c: all with the lock held unless noted */
void vpt_throttle_init(struct vpt_disk *disk); /* not held */
void vpt_throttle_reset(struct vpt_disk *disk);
void vpt_picked(struct vpt_disk *disk, struct request *rq, u64 now_ns, u8 reason);
void vpt_issued(struct vpt_disk *disk, struct request *rq, u64 now_ns);
void vpt_requeued(struct vpt_disk *disk, struct request *rq);
void vpt_finished(struct vpt_disk *disk, struct vpt_request *vr, bool failed);
/* Not held: takes the lock.  False: the caller must complete the request now. */
bool vpt_hold(struct vpt_disk *disk, struct request *rq);
/* Not held.  Resets the throttle and starts to hold completions. */
void vpt_start_holding(struct vpt_disk *disk);
/* Not held.  Stops holding, and completes the held requests. */
void vpt_release_all(struct vpt_disk *disk);
/*
 * The positioning time of io if the drive begins it as soon as the drive is free (see
 * positioning_fn).
 */
u64 vpt_positioning_ns(struct vpt_disk *disk, const struct io_request *io, u64 now_ns);
/* Not held.  Stops tracking, after the hooks are gone. */
void vpt_forget_all(struct vpt_disk *disk);

/* recorder.c: all with the lock held unless noted */
void vpt_bio_arrived(struct vpt_disk *disk, struct bio *bio, u64 now_ns);
/*
 * When the request's first bio arrived.  If that bio is not recorded: when the request was made.
 * 0: unknown.
 */
u64 vpt_arrival_ns(struct vpt_disk *disk, const struct request *rq);
/* The bio ended, and the hooks saw no request with it complete. */
void vpt_bio_lost(struct vpt_disk *disk, struct bio *bio);
/*
 * As vpt_bio_lost().  But if a REQ_NOWAIT bio found no room, its record is withdrawn: the submitter
 * sends it again.
 */
void vpt_bio_ended(struct vpt_disk *disk, struct bio *bio);
void vpt_bio_split(struct vpt_disk *disk, struct bio *front, struct bio *rest);
/* The request was served, but its bios end later: a flush follows. */
void vpt_bios_served(struct vpt_disk *disk, struct request *rq,
		     const struct vpt_request *vr);
void vpt_bios_completed(struct vpt_disk *disk, struct request *rq,
			const struct vpt_request *vr, int error, unsigned int bytes,
			u64 now_ns);
/* From here on: with control held, and not the lock. */
/* Makes room for so many records; the caller then sets wanted with the lock held. */
int vpt_record_prepare(struct vpt_disk *disk, u64 arrivals);
void vpt_record_free(struct vpt_disk *disk);
size_t vpt_record_bytes(const struct vpt_disk *disk);

/* hooks.c: process context */
int vpt_hook(struct vpt_disk *disk);
void vpt_unhook(struct vpt_disk *disk);
/* Hooks the current elevator's dispatch function, which may have changed. */
int vpt_rehook_elevator(struct vpt_disk *disk);

/* queues.c: the caller holds rcu_read_lock, also while it uses the disk */
struct vpt_disk *vpt_disk_of_queue(const struct request_queue *q);
struct vpt_disk *vpt_disk_of_request(struct request *rq);
/* Any context. */
bool vpt_is_throttled(const struct request_queue *q);
void vpt_queue_add(struct vpt_disk *disk);
void vpt_queue_remove(struct vpt_disk *disk);

/*
 * picks.c: process context, one call at a time.  dispatch: the elevator's dispatch function, or 0
 * to stop watching.
 */
int vpt_watch_elevator(struct vpt_disk *disk, unsigned long dispatch);

/* attach.c: process context */
int vpt_open(struct vpt_disk *disk, const char *path);
void vpt_close(struct vpt_disk *disk);
/* Starts to throttle an open disk. */
int vpt_attach(struct vpt_disk *disk);
void vpt_detach(struct vpt_disk *disk);
/* Waits until no trial read is in flight. */
void vpt_end_trials(void);

/* disks.c: process context */
int vpt_add(const char *path);
int vpt_remove(const char *name);
void vpt_remove_all(void);

/* sysfs.c */
int vpt_sysfs_init(void);
/*
 * vpt_sysfs_close(): user space can no longer add or remove disks.  vpt_sysfs_exit(): removes
 * /sys/kernel/vpt.
 */
void vpt_sysfs_close(void);
void vpt_sysfs_exit(void);
/* After this call only vpt_sysfs_put() may free the disk, even if there was an error. */
int vpt_sysfs_add(struct vpt_disk *disk);
/* Removes the folder, and waits until nobody uses a file in it. */
void vpt_sysfs_del(struct vpt_disk *disk);
/* Frees the disk. */
void vpt_sysfs_put(struct vpt_disk *disk);

#endif
