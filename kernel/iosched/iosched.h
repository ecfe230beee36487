/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the files of the shim.  Each scheduler's module links all these files with one
 * core/schedulers/NAME.c.
 *
 *	iosched.c        the elevator
 *	calls.c          the calls into the scheduler
 *	merges.c         merged requests
 *	slots.c          the slots for pending and dispatched requests
 *	sysfs.c          the scheduler's tunables and counters
 *	weights.c        weights that the user gives to owners
 *	tape_recorder.c  records every call into the scheduler, if requested
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

/* One disk that uses a scheduler of the project.  iosched.c says what the lock guards. */
struct iosched {
	spinlock_t lock;
	struct request_queue *q;
	void *state; /* state of the core scheduler */
	struct contract contract; /* checks each call into the scheduler */
	positioning_fn *positioning; /* of the disk's model; NULL: not used */
	u64 capacity_sectors; /* the capacity that was last passed to the scheduler */
	/* pending requests by sector, for front merges */
	struct rb_root sorted[IO_OPS];
	/* requests that bypass the scheduler and are served first */
	struct list_head direct;
	struct list_head overflow; /* requests that wait for a free slot */
	struct slot *slots, *free, **free_end;
	u64 next_id;
	bool told; /* the broken rule is already in the log */
	/* the scheduler returned no request, and nothing has changed since */
	bool waiting;
	struct hrtimer wake;
	struct tape *tape; /* NULL: not recorded */
};

static inline struct slot *slot_of(const struct request *rq)
{
	return rq->rq_flags & RQF_USE_SCHED ? rq->elv.priv[0] : NULL;
}

static inline u8 direction(const struct request *rq)
{
	return op_is_write(req_op(rq)) ? IO_WRITE : IO_READ;
}

/* slots.c: called with the lock held; slot_take returns NULL if no slot is free */
struct slot *slot_take(struct iosched *is);
void slot_put(struct iosched *is, struct slot *slot);
/* Takes the request out of its slot, and then frees the slot. */
void free_slot(struct iosched *is, struct slot *slot);

/* calls.c: called with the lock held */
void call_add(struct iosched *is, struct slot *slot, u64 now_ns);
void call_remove(struct iosched *is, struct slot *slot, u64 now_ns);
struct io_request *call_next(struct iosched *is, u64 now_ns, u64 *wake_ns);
void call_completed(struct iosched *is, struct slot *slot, u64 now_ns);
/* Fills in limits->positioning_ns if the disk has a model.  Called in process context. */
void take_model(struct iosched *is, struct sched_limits *limits);
/* Releases the module with the model, which take_model kept loaded. */
void give_model_back(struct iosched *is);

/*
 * merges.c: the first two functions are called with the lock held; the others are callbacks of the
 * elevator
 */
void index_for_merge(struct iosched *is, struct request *rq);
void unindex(struct iosched *is, struct request *rq);
bool iosched_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs);
int iosched_request_merge(struct request_queue *q, struct request **into,
			  struct bio *bio);
void iosched_request_merged(struct request_queue *q, struct request *rq,
			    enum elv_merge type);
void iosched_requests_merged(struct request_queue *q, struct request *rq,
			     struct request *gone);

/* weights.c: called in any context; returns 0 if the user assigned no weight to the owner */
u32 weight_given(u32 owner);

/*
 * sysfs.c: an array that is filled once, before the elevator is registered, and ends with an empty
 * entry
 */
extern struct elv_fs_entry iosched_attributes[];
void iosched_fill_attributes(void);

/*
 * tape_recorder.c: tape_begin and tape_end are called in process context; one disk at a time uses
 * the tape
 */
int tape_init(void);
void tape_exit(void);
/* Returns NULL if no tape was requested or another disk uses the tape. */
struct tape *tape_begin(const struct sched_limits *limits);
void tape_end(struct tape *tape);
/* Records a call.  Called with the lock of the recorded disk held. */
void tape_record(struct tape *tape, const struct tape_call *call);

#endif
