/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the shim share.  Each module is all of them linked with one
 * core/schedulers/NAME.c.
 *
 *	iosched.c        the elevator
 *	calls.c          the ways into the scheduler
 *	merges.c         what becomes of merged requests
 *	sysfs.c          the scheduler's tunables and counters
 *	weights.c        shares that owners were given
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

/* One pending or dispatched request. */
struct slot {
	struct io_request io;
	struct request *rq;
	struct slot *next_free;
	bool dispatched;
};

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

static inline struct slot *slot_of(const struct request *rq)
{
	return rq->rq_flags & RQF_USE_SCHED ? rq->elv.priv[0] : NULL;
}

static inline u8 direction(const struct request *rq)
{
	return op_is_write(req_op(rq)) ? IO_WRITE : IO_READ;
}

/* iosched.c: with the lock held */
void free_slot(struct iosched *is, struct slot *slot);

/* calls.c: with the lock held */
void call_add(struct iosched *is, struct slot *slot, u64 now_ns);
void call_remove(struct iosched *is, struct slot *slot, u64 now_ns);
struct io_request *call_next(struct iosched *is, u64 now_ns, u64 *wake_ns);
void call_completed(struct iosched *is, struct slot *slot, u64 now_ns);
/* In process context; what the scheduler may ask, if the disk has a model. */
void take_model(struct iosched *is, struct sched_limits *limits);
/* Whoever has the model stays until it is given back. */
void give_model_back(struct iosched *is);

/* merges.c: the first two with the lock held, the others are the elevator's */
void index_for_merge(struct iosched *is, struct request *rq);
void unindex(struct iosched *is, struct request *rq);
bool iosched_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs);
int iosched_request_merge(struct request_queue *q, struct request **into,
			  struct bio *bio);
void iosched_request_merged(struct request_queue *q, struct request *rq,
			    enum elv_merge type);
void iosched_requests_merged(struct request_queue *q, struct request *rq,
			     struct request *gone);

/* weights.c: any context; 0: nobody gave it one */
u32 weight_given(u32 owner);

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
