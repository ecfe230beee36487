// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Complete fairness queueing, the default of Linux 2.6 and the papers' standard of
 * comparison (PERFORM 2010 sections 2.2 and 6): processes share the disk's time.
 *
 * Queues. Every process has a queue for its reads. Writes are usually written back by another
 * process, so they go to shared queues, one for each I/O class and level.
 *
 * Turns. Within a class the queues with pending requests take turns, each for a slice of time. The
 * slice is slice_sync for reads and slice_async for writes. For each level more urgent than the
 * middle one, the slice is longer by a fifth; for each level less urgent, it is shorter by a fifth.
 * A slice begins when the queue is chosen, and at least one request of the queue is served. When
 * the host calls next, the slice ends in these cases:
 *
 * - its time is up;
 * - a more urgent class has a request;
 * - no request of the queue is pending and no wait is open;
 * - it is a slice of writes, and has served 2 * slice_async_rq requests for each level that is not
 *   more urgent than the slice's level.
 *
 * The unused time of a slice is lost.
 *
 * Some disks accept several requests at once. On such a disk, while a read is in service whose
 * owner's think time is at most slice_idle, the scheduler hands out no request of another queue
 * until the slice ends. This does not apply if the disk accepts at least DEEP requests and the
 * owner's reads are far apart.
 *
 * Classes. Realtime goes before best effort, which goes before idle, strictly: a class is served
 * only while the more urgent classes have no request pending and no wait open.
 *
 * Slice idling. When a read completes and its queue is empty, the scheduler waits for the owner's
 * next read: for up to slice_idle, or slice_idle_far if the owner's reads are far apart, but not
 * beyond the slice. The scheduler does not wait if the owner's mean think time is longer than that
 * wait, nor for the idle class.
 *
 * Order in a queue: ascending, with short steps back (near.h). If the oldest request has expired
 * when the slice begins, that request goes first.
 */
#include "../fifo.h"
#include "../habits.h"
#include "../near.h"
#include "../owners.h"
#include "../scheduler.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)
#define CLASSES IO_CLASS_IDLE
#define DEEP \
	5 /* a disk that accepts this many requests at once orders them well itself (Linux 2.6) */
#define SLICE_SHARES 5 /* adjacent levels differ by 1/5 of the middle slice */

/**
 * struct cfq_queue - the reads of a process, or the writes of one level
 * @pending: its requests
 * @count: number of its requests
 * @in_service: number of its reads that were handed out and have not completed
 * @io_class: enum io_class
 * @level: its level; a lower level has longer slices
 * @op: reads or writes
 * @in_round: the queue is in the round. Its requests may all have been removed since
 * @prev: the queue before it in the round
 * @next: the queue after it in the round
 * @slot: slot of its process, if it is a queue of reads
 * @habits: habits of its process, if it is a queue of reads
 */
struct cfq_queue {
	struct fifo pending;
	u32 count;
	u32 in_service;
	u8 io_class;
	u8 level;
	u8 op;
	bool in_round;
	struct cfq_queue *prev, *next;
	u32 slot;
	struct habits habits;
};

/* The round of one class: the queues that wait for a slice, in order. */
struct round {
	struct cfq_queue *first, *last;
};

/**
 * struct slice - the current slice
 * @queue: the queue, or NULL
 * @end_ns: end of the slice
 * @served: number of requests handed out in this slice
 */
struct slice {
	struct cfq_queue *queue;
	u64 end_ns;
	u64 served;
};

/**
 * struct wait - a wait for the next read of the slice's queue
 * @open: is a wait open?
 * @held: did this wait delay a pending request?
 * @paid: the last wait was won, and no request has been served since
 * @until_ns: end of the wait
 */
struct wait {
	bool open;
	bool held;
	bool paid;
	u64 until_ns;
};

struct cfq {
	u64 slice_sync_ns;
	u64 slice_async_ns;
	u64 slice_async_rq;
	u64 slice_idle_ns;
	u64 slice_idle_far_ns;
	u64 far_sectors;
	u64 fifo_expire_sync_ns;
	u64 fifo_expire_async_ns;
	struct near_rule near;

	u64 sync_slices;
	u64 async_slices;
	u64 used_up;
	u64 emptied;
	u64 limited;
	u64 preempted;
	u64 waits_won;
	u64 waits_lost;
	u64 waits_cut;
	u64 waits_spared;
	u64 expired;
	u64 back_steps;

	struct owners owners;
	struct cfq_queue *sync; /* by slot */
	struct cfq_queue async[CLASSES][IO_LEVELS];
	struct round round[CLASSES];
	struct slice slice;
	struct wait wait;
	u32 pending; /* requests in all queues */
	bool is_deep;
	u64 head; /* end of the last request handed out */
};

static const struct sched_field cfq_tunables[] = {
	SCHED_TUNABLE(cfq, slice_sync_ns, 100 * MS, 0, HOUR,
		      "time for the reads of a process of the middle level"),
	SCHED_TUNABLE(cfq, slice_async_ns, 40 * MS, 0, HOUR,
		      "time for the writes of the middle level"),
	SCHED_TUNABLE(
		cfq, slice_async_rq, 2, 1, 1000000,
		"half of the most writes in a slice, per level from its own down"),
	SCHED_TUNABLE(cfq, slice_idle_ns, 8 * MS, 0, HOUR,
		      "longest wait for the next read of the slice's owner"),
	SCHED_TUNABLE(cfq, slice_idle_far_ns, 2 * MS, 0, HOUR,
		      "the same, if shorter, for an owner whose reads are far apart"),
	SCHED_TUNABLE(cfq, far_sectors, 8192, 0, 1ull << 48,
		      "mean distance from which an owner's reads are far apart"),
	SCHED_TUNABLE(cfq, fifo_expire_sync_ns, 125 * MS, 0, HOUR,
		      "age at which the oldest read begins its slice"),
	SCHED_TUNABLE(cfq, fifo_expire_async_ns, 250 * MS, 0, HOUR,
		      "age at which the oldest write begins its slice"),
	{ .name = "back_seek_max",
	  .help = "longest step back, in sectors",
	  .offset = offsetof(struct cfq, near.back_max),
	  .initial = 32768,
	  .max = NEAR_BACK_MAX },
	{ .name = "back_seek_penalty",
	  .help = "a sector back counts as this many ahead",
	  .offset = offsetof(struct cfq, near.back_penalty),
	  .initial = 2,
	  .min = 1,
	  .max = NEAR_PENALTY_MAX },
};

static const struct sched_field cfq_counters[] = {
	SCHED_COUNTER(cfq, sync_slices, "slices begun for a process's reads"),
	SCHED_COUNTER(cfq, async_slices, "slices begun for writes"),
	SCHED_COUNTER(cfq, used_up, "slices that ended with their time"),
	SCHED_COUNTER(cfq, emptied, "slices that ended with nothing pending"),
	SCHED_COUNTER(cfq, limited, "slices of writes that ended with their number"),
	SCHED_COUNTER(cfq, preempted, "slices that ended for a more urgent class"),
	SCHED_COUNTER(cfq, waits_won, "waits that the expected read ended"),
	SCHED_COUNTER(cfq, waits_lost, "waits that ran out of time"),
	SCHED_COUNTER(cfq, waits_cut, "waits cut short by a more urgent class"),
	SCHED_COUNTER(cfq, waits_spared, "completions whose owner thinks too long"),
	SCHED_COUNTER(cfq, expired, "slices that began with an expired request"),
	SCHED_COUNTER(cfq, back_steps, "requests served by a short step back"),
};

static void cfq_exit(void *state)
{
	struct cfq *cfq = state;

	owners_exit(&cfq->owners);
	port_free(cfq->sync);
}

/* Set the operation of the queues of writes. Their class and level are set by each request. */
static void init_async(struct cfq *cfq)
{
	u8 i;
	u8 level;

	for (i = 0; i < CLASSES; i++) {
		for (level = 0; level < IO_LEVELS; level++)
			cfq->async[i][level].op = IO_WRITE;
	}
}

static int cfq_init(void *state, const struct sched_limits *limits)
{
	struct cfq *cfq = state;

	/*
	 * Slots are also in use for owners with requests in service, and for the owner of the
	 * slice.
	 */
	cfq->is_deep = limits->depth >= DEEP;
	if (owners_init(&cfq->owners, limits->max_requests + limits->depth + 2))
		return -ENOMEM;
	cfq->sync = port_zalloc(cfq->owners.capacity * sizeof(*cfq->sync));
	if (!cfq->sync) {
		cfq_exit(cfq);
		return -ENOMEM;
	}
	init_async(cfq);
	return 0;
}

/* Rounds. */

static struct round *round_of(struct cfq *cfq, const struct cfq_queue *queue)
{
	return &cfq->round[queue->io_class - 1];
}

static void round_add(struct cfq *cfq, struct cfq_queue *queue)
{
	struct round *round = round_of(cfq, queue);

	queue->prev = round->last;
	queue->next = NULL;
	if (queue->prev)
		queue->prev->next = queue;
	else
		round->first = queue;
	round->last = queue;
	queue->in_round = true;
}

static void round_remove(struct cfq *cfq, struct cfq_queue *queue)
{
	struct round *round = round_of(cfq, queue);

	if (queue->prev)
		queue->prev->next = queue->next;
	else
		round->first = queue->next;
	if (queue->next)
		queue->next->prev = queue->prev;
	else
		round->last = queue->prev;
	queue->in_round = false;
}

/*
 * Return the next queue of the round, or NULL. Queues without requests are removed from the round.
 */
static struct cfq_queue *round_first(struct cfq *cfq, struct round *round)
{
	while (round->first && !round->first->count)
		round_remove(cfq, round->first);
	return round->first;
}

static struct cfq_queue *most_urgent(struct cfq *cfq)
{
	struct cfq_queue *queue = NULL;
	u8 i;

	for (i = 0; !queue && i < CLASSES; i++)
		queue = round_first(cfq, &cfq->round[i]);
	return queue;
}

/* Slice idling. */

static bool is_far(const struct cfq *cfq, const struct cfq_queue *queue)
{
	return queue->habits.distance > cfq->far_sectors;
}

static u64 longest_wait_ns(const struct cfq *cfq, const struct cfq_queue *queue)
{
	if (is_far(cfq, queue) && cfq->slice_idle_far_ns < cfq->slice_idle_ns)
		return cfq->slice_idle_far_ns;
	return cfq->slice_idle_ns;
}

static void wait_begin(struct cfq *cfq, u64 now_ns)
{
	const struct cfq_queue *queue = cfq->slice.queue;
	u64 until_ns = now_ns + longest_wait_ns(cfq, queue);

	if (queue->io_class == IO_CLASS_IDLE || now_ns >= cfq->slice.end_ns)
		return;
	if (until_ns > cfq->slice.end_ns)
		until_ns = cfq->slice.end_ns;
	if (queue->habits.think_ns > until_ns - now_ns) {
		cfq->waits_spared++;
		return;
	}
	cfq->wait = (struct wait){ .open = true, .until_ns = until_ns };
}

static bool has_it_alone(const struct cfq *cfq, const struct cfq_queue *queue)
{
	return queue->in_service && queue->io_class != IO_CLASS_IDLE &&
	       cfq->slice_idle_ns && queue->habits.think_ns <= cfq->slice_idle_ns &&
	       !(cfq->is_deep && is_far(cfq, queue));
}

static void wait_end(struct cfq *cfq, u64 *counter)
{
	if (cfq->wait.open && cfq->wait.held)
		++*counter;
	cfq->wait.open = false;
}

static void wait_end_if_over(struct cfq *cfq, u64 now_ns)
{
	if (now_ns >= cfq->wait.until_ns)
		wait_end(cfq, &cfq->waits_lost);
}

static void wait_see_read(struct cfq *cfq, const struct cfq_queue *queue, u64 now_ns)
{
	wait_end_if_over(cfq, now_ns);
	if (!cfq->wait.open || queue != cfq->slice.queue)
		return;
	cfq->wait.paid = cfq->wait.held;
	wait_end(cfq, &cfq->waits_won);
}

/* Pending requests. */

static struct cfq_queue *queue_of(struct cfq *cfq, const struct io_request *rq)
{
	if (rq->op == IO_WRITE)
		return &cfq->async[rq->io_class - 1][rq->level];
	return &cfq->sync[rq->slot];
}

/* Set the priority of a process's queue to that of a new request. */
static void take_priority(struct cfq *cfq, struct cfq_queue *queue,
			  const struct io_request *rq)
{
	if (queue->in_round && queue->io_class != rq->io_class)
		round_remove(cfq, queue);
	queue->io_class = rq->io_class;
	queue->level = rq->level;
}

static void find_owner(struct cfq *cfq, struct io_request *rq)
{
	struct cfq_queue *queue;
	bool is_new;

	rq->slot = owners_get(&cfq->owners, rq->owner, &is_new);
	queue = &cfq->sync[rq->slot];
	if (!is_new)
		return;
	if (queue->in_round)
		round_remove(cfq, queue);
	*queue = (struct cfq_queue){ .slot = rq->slot, .op = IO_READ };
}

static void cfq_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct cfq *cfq = state;
	struct cfq_queue *queue;

	if (rq->op == IO_READ)
		find_owner(cfq, rq);
	queue = queue_of(cfq, rq);
	take_priority(cfq, queue, rq);
	fifo_add(&queue->pending, rq);
	queue->count++;
	cfq->pending++;
	if (!queue->in_round && queue != cfq->slice.queue)
		round_add(cfq, queue);
	if (rq->op != IO_READ)
		return;
	habits_act(&queue->habits, rq, now_ns, 2 * cfq->slice_idle_ns);
	wait_see_read(cfq, queue, now_ns);
}

static void take_out(struct cfq *cfq, struct cfq_queue *queue, struct io_request *rq)
{
	fifo_remove(&queue->pending, rq);
	queue->count--;
	cfq->pending--;
}

/* Remove a request. The queue stays in the round, since the host may add the request again. */
static void cfq_remove(void *state, struct io_request *rq)
{
	struct cfq *cfq = state;

	take_out(cfq, queue_of(cfq, rq), rq);
	if (rq->op == IO_READ)
		owners_put(&cfq->owners, rq->slot);
}

/* Slices. */

static u64 slice_length_ns(const struct cfq *cfq, const struct cfq_queue *queue)
{
	u64 base_ns = queue->op == IO_READ ? cfq->slice_sync_ns : cfq->slice_async_ns;

	return base_ns * (SLICE_SHARES + IO_LEVEL_DEFAULT - queue->level) /
	       SLICE_SHARES;
}

static void slice_begin(struct cfq *cfq, struct cfq_queue *queue, u64 now_ns)
{
	round_remove(cfq, queue);
	cfq->slice = (struct slice){
		.queue = queue,
		.end_ns = now_ns + slice_length_ns(cfq, queue),
	};
	cfq->wait.paid = false;
	if (queue->op == IO_WRITE) {
		cfq->async_slices++;
		return;
	}
	cfq->sync_slices++;
	owners_hold(&cfq->owners, queue->slot);
}

static void slice_end(struct cfq *cfq, u64 *counter)
{
	struct cfq_queue *queue = cfq->slice.queue;

	++*counter;
	wait_end(cfq, &cfq->waits_cut);
	cfq->slice.queue = NULL;
	if (queue->count)
		round_add(cfq, queue);
	if (queue->op == IO_READ)
		owners_put(&cfq->owners, queue->slot);
}

/* If the slice ends now, return the counter for the reason, otherwise NULL. */
static u64 *slice_is_over(struct cfq *cfq, u64 now_ns)
{
	const struct cfq_queue *queue = cfq->slice.queue;
	const struct cfq_queue *other = most_urgent(cfq);

	if (other && other->io_class < queue->io_class)
		return &cfq->preempted;
	if (now_ns >= cfq->slice.end_ns)
		return &cfq->used_up;
	if (!queue->count && !cfq->wait.open && !has_it_alone(cfq, queue))
		return &cfq->emptied;
	if (queue->op == IO_WRITE &&
	    cfq->slice.served >= 2 * cfq->slice_async_rq * (IO_LEVELS - queue->level))
		return &cfq->limited;
	return NULL;
}

static u64 rank(const struct cfq *cfq, const struct io_request *rq)
{
	return near_rank(&cfq->near, cfq->head, rq);
}

static struct io_request *nearest(const struct cfq *cfq, const struct cfq_queue *queue)
{
	struct io_request *best = queue->pending.oldest;
	struct io_request *rq;

	for (rq = best->fifo_next; rq; rq = rq->fifo_next) {
		if (rank(cfq, rq) < rank(cfq, best))
			best = rq;
	}
	return best;
}

static bool begins_expired(const struct cfq *cfq, const struct cfq_queue *queue,
			   u64 now_ns)
{
	u64 expire_ns = queue->op == IO_READ ? cfq->fifo_expire_sync_ns
					     : cfq->fifo_expire_async_ns;

	return !cfq->slice.served &&
	       now_ns >= queue->pending.oldest->arrival_ns + expire_ns;
}

static struct io_request *choose(struct cfq *cfq, const struct cfq_queue *queue,
				 u64 now_ns)
{
	struct io_request *rq;

	if (begins_expired(cfq, queue, now_ns)) {
		rq = queue->pending.oldest;
		rq->reason = PICK_EXPIRED;
		cfq->expired++;
		return rq;
	}
	rq = nearest(cfq, queue);
	rq->reason = cfq->wait.paid ? PICK_WAITED : PICK_ORDER;
	if (rq->sector < cfq->head && rank(cfq, rq) < NEAR_NEXT_SWEEP)
		cfq->back_steps++;
	return rq;
}

/* Serve a request of the slice. The owner's slot stays in use until the request completes. */
static struct io_request *serve(struct cfq *cfq, u64 now_ns)
{
	struct cfq_queue *queue = cfq->slice.queue;
	struct io_request *rq = choose(cfq, queue, now_ns);

	take_out(cfq, queue, rq);
	queue->in_service += rq->op == IO_READ;
	cfq->slice.served++;
	cfq->wait.paid = false;
	cfq->head = request_end(rq);
	return rq;
}

static struct io_request *cfq_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct cfq *cfq = state;
	u64 *why;

	if (!cfq->pending)
		return NULL;
	wait_end_if_over(cfq, now_ns);
	why = cfq->slice.queue ? slice_is_over(cfq, now_ns) : NULL;
	if (why)
		slice_end(cfq, why);
	if (!cfq->slice.queue)
		slice_begin(cfq, most_urgent(cfq), now_ns);
	if (cfq->slice.queue->count)
		return serve(cfq, now_ns);
	cfq->wait.held = true;
	*wake_ns = cfq->wait.open ? cfq->wait.until_ns : cfq->slice.end_ns;
	return NULL;
}

static void cfq_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct cfq *cfq = state;
	struct cfq_queue *queue = &cfq->sync[rq->slot];

	if (rq->op != IO_READ)
		return;
	queue->in_service--;
	if (!queue->count && !queue->in_service) {
		habits_think(&queue->habits, rq, now_ns);
		if (queue == cfq->slice.queue)
			wait_begin(cfq, now_ns);
	}
	owners_put(&cfq->owners, rq->slot);
}

static bool cfq_has_work(const void *state)
{
	const struct cfq *cfq = state;

	return cfq->pending;
}

static const struct scheduler cfq_scheduler = {
	.name = "cfq",
	.summary = "complete fairness queueing: processes take turns, each for a slice "
		   "of time",
	.state_size = sizeof(struct cfq),
	.tunables = cfq_tunables,
	.nr_tunables = ARRAY_SIZE(cfq_tunables),
	.counters = cfq_counters,
	.nr_counters = ARRAY_SIZE(cfq_counters),
	.init = cfq_init,
	.exit = cfq_exit,
	.add = cfq_add,
	.remove = cfq_remove,
	.next = cfq_next,
	.completed = cfq_completed,
	.has_work = cfq_has_work,
};
REGISTER_SCHEDULER(cfq_scheduler);
