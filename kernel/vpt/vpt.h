/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The virtual performance throttle: makes a disk of this machine take as long for each request as a
 * profiled disk would (PERFORM 2010 section 4, Jones 2010 section 4.3).
 *
 *	main.c          loading and unloading
 *	sysfs*.c        /sys/kernel/vpt: a folder of files for each disk
 *	disks.c         the list of throttled disks
 *	attach.c        checks whether a disk can be throttled
 *	hooks.c         the hooks in the block layer
 *	picks.c         the hooks in elevators
 *	queues.c        finds the throttled disk of a queue
 *	disk.c          a throttled disk: its allocation and its end
 *	throttle.c      due times and held completions
 *	recorder.c      what happened to each bio, for user space
 *	scaling.c       the scale factor k, and how it is adapted to late requests
 *	requests.c      the table of requests between pick and completion
 *	model.c         the profile of a disk, and the limits of the profile
 *
 * A file calls only functions of files below it in this list, with two exceptions.  disks.c adds
 * and removes a disk's folder through sysfs.c, and throttle.c completes a held request through a
 * function pointer from hooks.c.  Only sysfs.c, disks.c, attach.c, hooks.c, picks.c and queues.c
 * have state that several disks share.  Disks share a lock only while a disk is added, removed or
 * hooked to another elevator.
 *
 * Locking: each disk has two locks.  The mutex `control` serialises changes from user space.  The
 * raw spinlock `lock` guards the data that the hooks change.  Hooks run in process context, in soft
 * and hard interrupts, and under drivers' locks.  So `lock` is always taken with interrupts off.
 * The only lock that is taken under `lock` is that of the timer base, by hrtimer_start.
 * Completions are released after `lock` is dropped.  A setting is changed with both locks held, so
 * it may be read with either lock held.
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

/* The longest time that a request may take: half of the block layer's time-out. */
#define VPT_HOLD_MAX_NS (15ULL * NSEC_PER_SEC)

/*
 * The highest number of requests that are picked and not yet finished.  Further requests are
 * counted as untracked.  An array with more servers than this could never keep all servers busy.
 */
#define VPT_REQUESTS_MAX 4096

/* k is adapted to the lateness of this number of requests (Jones 2010 section 4.3.2). */
#define VPT_WINDOW 1000

/*
 * The maximum length of a table's text, which has room for TRACKS_ZONES_MAX rows of maximum length.
 */
#define VPT_TABLE_TEXT_MAX SZ_512K

/* The settings from user space, and the state of the modelled device. */
struct vpt_model {
	struct timed_device
		device; /* first field, so that its offsets are valid in vpt_model */
	u64 scale_auto; /* 1: k is adapted to late requests */
	/* 1: the overhead of kernel and throttle is not service time */
	u64 subtract_overhead;
	u64 record_groups; /* 1: the records name control groups instead of processes */
};

/* One request between its pick and its completion. */
struct vpt_request {
	struct hlist_node by_rq;
	struct list_head held; /* in order of due time */
	struct request *rq;
	struct command command; /* the request as the modelled device sees it */
	bool kept_back; /* the elevator delayed the request while the disk was free */
	u64 id;
	u64 pick_ns, dispatch_ns;
	u16 flags; /* VPT_*, without VPT_HIT */
	u8 reason;
	enum {
		VPT_PICKED,
		VPT_ISSUED, /* the driver started it */
		VPT_HELD, /* the driver completed the request before the due time */
		VPT_RELEASED, /* completed; later events are ignored */
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
	struct list_head held; /* the held requests that have a due time, in order */
	struct hrtimer
		timer; /* for the first held request, or for the drive's next choice */
	u64 last_id;
	u64 in_vain_ns; /* when the elevator last had nothing to dispatch */
	u64 free_ns[VPT_REQUESTS_MAX]; /* when each server of an array is free */
};

/* Shows which of the last requests were late. */
struct vpt_scaling {
	DECLARE_BITMAP(late, VPT_WINDOW);
	u32 next, judged, nr_late; /* in the window: all, and late ones */
};

/* Counters of events since the last reset. */
struct vpt_counters {
	u64 requests; /* dispatched to the disk */
	u64 completed;
	u64 failed; /* completed with an error */
	u64 late; /* the driver completed them after the due time */
	u64 stale; /* picked while the modelled device was full */
	u64 held;
	u64 overshoot_ns; /* sum over held requests: release time - due time */
	u64 overshoot_max_ns;
	u64 overhead_ns; /* sum of the subtracted times from possible begin of service to issue */
	u64 missed; /* completions that the hooks on the up path did not see */
	u64 untracked; /* requests for which the table had no space */
	u64 lost; /* bios whose completion the hooks did not see */
	u64 pick_unseen; /* requests whose pick the hooks did not see */
	u64 scale_raised, scale_lowered; /* number of changes by scale_auto */
};

struct vpt_recorder {
	struct vpt_record *records;
	struct vpt_pending *pending;
	u64 wanted, arrived, completed;
	DECLARE_HASHTABLE(in_flight, 10);
};

/*
 * A table that user space has written in part.  The remaining part must be written through the same
 * open file.
 */
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
	struct curve_point line[2]; /* the seek curve of a disk without a profile */

	struct file *file; /* keeps the disk open */
	struct block_device *bdev;
	struct request_queue *queue; /* of the disk */
	struct hlist_node by_queue; /* queues.c */
	struct vpt_watch *watch; /* on the disk's elevator; NULL: no elevator */

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

/* model.c: called with `control` held */
void vpt_model_clear(struct vpt_disk *disk, u64 capacity_sectors);
/* Frees the rows of a table.  The model must no longer point to them. */
void vpt_rows_free(struct vpt_disk *disk, const void *rows);
/* Frees the rows of all tables, before the disk is freed. */
void vpt_model_free(struct vpt_disk *disk);
/* Returns the service time of the slowest request, unscaled. */
u64 vpt_model_slowest_ns(const struct vpt_model *model, struct block_device *bdev);
/*
 * Checks the model.  Returns -EINVAL if settings contradict each other.  Returns -ERANGE if a
 * setting exceeds its limit, or if the slowest request would take so long that the disk would seem
 * to be dead; the log then says so.  Returns 0 otherwise.
 */
int vpt_model_check(const struct vpt_model *model, struct block_device *bdev);
/*
 * Returns a copy of the model.  The caller changes and checks the copy before it changes the disk's
 * own model.  Only the settings in the copy are meaningful.  The caller frees the copy with kvfree.
 * Returns NULL if there is no memory.
 */
struct vpt_model *vpt_model_copy(struct vpt_disk *disk);

/* requests.c: all are called with the lock held unless noted */
int vpt_requests_init(struct vpt_requests *requests); /* called without the lock */
void vpt_requests_exit(struct vpt_requests *requests); /* called without the lock */
struct vpt_request *vpt_find(struct vpt_disk *disk, const struct request *rq);
/* Begins to track a request.  Returns NULL if there is no free entry. */
struct vpt_request *vpt_track(struct vpt_disk *disk, struct request *rq);
void vpt_untrack(struct vpt_disk *disk, struct vpt_request *vr);
void vpt_untrack_all(struct vpt_disk *disk);

/* scaling.c: all are called with the lock held */
void vpt_set_scale(struct vpt_disk *disk, u64 scale_milli);
/*
 * If k has risen since the copy `changed` was made, lowers k to the copy's value, with which the
 * change was checked.
 */
void vpt_keep_checked_scale(struct vpt_disk *disk, const struct vpt_model *changed);
/* Counts a completion as late or not late, and adapts k. */
void vpt_judged(struct vpt_disk *disk, const struct vpt_request *vr);

/* throttle.c: all are called with the lock held unless noted */
void vpt_throttle_init(struct vpt_disk *disk); /* called without the lock */
void vpt_throttle_reset(struct vpt_disk *disk);
void vpt_picked(struct vpt_disk *disk, struct request *rq, u64 now_ns, u8 reason);
void vpt_issued(struct vpt_disk *disk, struct request *rq, u64 now_ns);
void vpt_requeued(struct vpt_disk *disk, struct request *rq);
void vpt_finished(struct vpt_disk *disk, struct vpt_request *vr, bool failed);
/*
 * Called without the lock, since it takes the lock.  If the result is false, the caller must
 * complete the request at once.
 */
bool vpt_hold(struct vpt_disk *disk, struct request *rq);
/* Called without the lock.  Resets the throttle and starts to hold completions. */
void vpt_start_holding(struct vpt_disk *disk);
/* Called without the lock.  Stops holding completions, and completes the held requests. */
void vpt_release_all(struct vpt_disk *disk);
/*
 * Returns the positioning time of `io` if the drive begins `io` as soon as the drive is free (see
 * positioning_fn).
 */
u64 vpt_positioning_ns(struct vpt_disk *disk, const struct io_request *io, u64 now_ns);
/* Called without the lock.  Stops tracking requests, after the hooks were removed. */
void vpt_forget_all(struct vpt_disk *disk);

/* recorder.c: all are called with the lock held unless noted */
void vpt_bio_arrived(struct vpt_disk *disk, struct bio *bio, u64 now_ns);
/*
 * Returns the arrival time of the request's first bio.  If the bio is not recorded, returns the
 * time when the request was created, or 0 if that is unknown.
 */
u64 vpt_arrival_ns(struct vpt_disk *disk, const struct request *rq);
/*
 * Called when a bio has ended, but the hooks have not seen the completion of a request with the
 * bio.
 */
void vpt_bio_lost(struct vpt_disk *disk, struct bio *bio);
/*
 * Like vpt_bio_lost().  However, if the bio is REQ_NOWAIT and ended because there was no space for
 * a request, its record is deleted, since the submitter sends the bio again.
 */
void vpt_bio_ended(struct vpt_disk *disk, struct bio *bio);
void vpt_bio_split(struct vpt_disk *disk, struct bio *front, struct bio *rest);
/* Called when the request was served but its bios will end later, because a flush follows. */
void vpt_bios_served(struct vpt_disk *disk, struct request *rq,
		     const struct vpt_request *vr);
void vpt_bios_completed(struct vpt_disk *disk, struct request *rq,
			const struct vpt_request *vr, int error, unsigned int bytes,
			u64 now_ns);
/* All functions from here on are called with `control` held, and without the lock. */
/* Allocates space for this number of records.  The caller then sets `wanted` with the lock held. */
int vpt_record_prepare(struct vpt_disk *disk, u64 arrivals);
void vpt_record_free(struct vpt_disk *disk);
size_t vpt_record_bytes(const struct vpt_disk *disk);

/* hooks.c: process context */
int vpt_hook(struct vpt_disk *disk);
void vpt_unhook(struct vpt_disk *disk);
/* Hooks the dispatch function of the disk's present elevator. */
int vpt_rehook_elevator(struct vpt_disk *disk);

/* queues.c: the caller must hold rcu_read_lock until it no longer uses the disk */
struct vpt_disk *vpt_disk_of_queue(const struct request_queue *q);
struct vpt_disk *vpt_disk_of_request(struct request *rq);
/* May be called in any context. */
bool vpt_is_throttled(const struct request_queue *q);
void vpt_queue_add(struct vpt_disk *disk);
void vpt_queue_remove(struct vpt_disk *disk);

/*
 * picks.c: process context, one call at a time.  `dispatch` is the elevator's dispatch function, or
 * 0 to stop watching.
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
 * After vpt_sysfs_close(), user space can no longer add or remove disks.  vpt_sysfs_exit() removes
 * /sys/kernel/vpt.
 */
void vpt_sysfs_close(void);
void vpt_sysfs_exit(void);
/* After this call, only vpt_sysfs_put() may free the disk, even if the call fails. */
int vpt_sysfs_add(struct vpt_disk *disk);
/* Removes the folder, and waits until no process uses its files. */
void vpt_sysfs_del(struct vpt_disk *disk);
/* Frees the disk. */
void vpt_sysfs_put(struct vpt_disk *disk);

#endif
