// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Anticipatory scheduling (Iyer and Druschel, SOSP 2001), in the form that it had in Linux 2.6: an
 * elevator with batches, deadlines and deliberate waits.
 *
 * Batches. Reads and writes take turns. A batch ends when its time is over, or earlier if no
 * request of its direction is pending and no wait is open. The next batch is of the other direction
 * if a request of that direction is pending.
 *
 * Order. Within a batch, requests are served in ascending order, with short steps back (near.h).
 * When the oldest request of the direction has expired, it goes first, and the sweep continues from
 * that request. This happens at most once per expiry time; otherwise an overloaded disk would serve
 * all requests in order of arrival.
 *
 * Waits. A process that reads one block after the other has no request pending when its read
 * completes, but will soon have one. An elevator is misled by this gap, and seeks away and back
 * again for each block. So when a read completes and its owner has no other read pending, the
 * scheduler keeps the disk idle for up to antic_expire, if the owner's think time is usually no
 * longer than that. The wait is
 *
 * - won if a read of that owner arrives in time;
 * - lost if time runs out;
 * - cut short if a read has expired, if the batch is over and writes are pending, or if another
 *   owner's read is so close that waiting is pointless: its distance from the head is at most
 *   close_sectors, or at most the mean distance between the awaited owner's reads.
 *
 * A wait is counted only if it delayed a pending request.
 *
 * Some disks accept several requests at once. On such a disk, while a read of an owner worth
 * waiting for is in service, the scheduler hands out no other reads except close ones, and no
 * writes during a batch of reads.
 */
#include "../fifo.h"
#include "../habits.h"
#include "../near.h"
#include "../owners.h"
#include "../scheduler.h"
#include "../sorted_queue.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)

/**
 * struct direction - the pending reads, or the pending writes
 * @sorted: by sector
 * @fifo: by arrival
 * @patient_until_ns: before this time, no expired request goes first
 */
struct direction {
	struct sorted_queue sorted;
	struct fifo fifo;
	u64 patient_until_ns;
};

/**
 * struct reader - state of an owner's reads
 * @habits: habits of its reads
 * @reads: number of reads pending
 * @in_service: number of reads that were handed out and have not completed
 */
struct reader {
	struct habits habits;
	u32 reads;
	u32 in_service;
};

/**
 * struct wait - a wait for a read
 * @open: is a wait open?
 * @held: did this wait delay a pending request?
 * @slot: slot of the awaited owner; the slot is in use as long as the wait is open
 * @until_ns: end of the wait
 */
struct wait {
	bool open;
	bool held;
	u32 slot;
	u64 until_ns;
};

struct anticipatory {
	u64 antic_expire_ns;
	u64 read_expire_ns;
	u64 write_expire_ns;
	u64 read_batch_ns;
	u64 write_batch_ns;
	u64 close_sectors;
	struct near_rule near;

	u64 waits_won;
	u64 waits_lost;
	u64 waits_cut;
	u64 waits_spared;
	u64 close_reads;
	u64 read_batches;
	u64 write_batches;
	u64 expired;
	u64 back_steps;

	struct direction direction[IO_OPS];
	struct owners owners;
	struct reader *reader; /* by slot */
	const struct reader *last; /* owner of the last request handed out, if a read */
	u8 op; /* direction of the batch */
	u64 batch_end_ns;
	struct wait wait;
	bool wait_paid; /* a wait was won and no request has been served since */
	u64 head; /* end of the last request handed out */
};

static const struct sched_field anticipatory_tunables[] = {
	SCHED_TUNABLE(anticipatory, antic_expire_ns, 6 * MS, 0, HOUR,
		      "longest wait for the next read of the owner just served"),
	SCHED_TUNABLE(anticipatory, read_expire_ns, 125 * MS, 0, HOUR,
		      "age at which the oldest read goes first"),
	SCHED_TUNABLE(anticipatory, write_expire_ns, 250 * MS, 0, HOUR,
		      "age at which the oldest write goes first among writes"),
	SCHED_TUNABLE(anticipatory, read_batch_ns, 500 * MS, 0, HOUR,
		      "time for reads while writes are pending"),
	SCHED_TUNABLE(anticipatory, write_batch_ns, 125 * MS, 0, HOUR,
		      "time for writes while reads are pending"),
	SCHED_TUNABLE(anticipatory, close_sectors, 128, 0, 1ull << 32,
		      "a read no farther than this from the head ends a wait"),
	{ .name = "back_max_sectors",
	  .help = "longest step back",
	  .offset = offsetof(struct anticipatory, near.back_max),
	  .initial = 32768,
	  .max = NEAR_BACK_MAX },
	{ .name = "back_penalty",
	  .help = "a sector back counts as this many ahead",
	  .offset = offsetof(struct anticipatory, near.back_penalty),
	  .initial = 2,
	  .min = 1,
	  .max = NEAR_PENALTY_MAX },
};

static const struct sched_field anticipatory_counters[] = {
	SCHED_COUNTER(anticipatory, waits_won, "waits that the expected read ended"),
	SCHED_COUNTER(anticipatory, waits_lost, "waits that ran out of time"),
	SCHED_COUNTER(anticipatory, waits_cut, "waits cut short"),
	SCHED_COUNTER(anticipatory, waits_spared,
		      "completions whose owner thinks too long"),
	SCHED_COUNTER(anticipatory, close_reads,
		      "close reads served while somebody was waited for"),
	SCHED_COUNTER(anticipatory, read_batches, "batches of reads begun"),
	SCHED_COUNTER(anticipatory, write_batches, "batches of writes begun"),
	SCHED_COUNTER(anticipatory, expired, "requests served because they were old"),
	SCHED_COUNTER(anticipatory, back_steps, "requests served by a short step back"),
};

static void anticipatory_exit(void *state)
{
	struct anticipatory *as = state;

	sorted_queue_exit(&as->direction[IO_READ].sorted);
	sorted_queue_exit(&as->direction[IO_WRITE].sorted);
	owners_exit(&as->owners);
	port_free(as->reader);
}

static int anticipatory_init(void *state, const struct sched_limits *limits)
{
	struct anticipatory *as = state;
	u32 max = limits->max_requests;
	int error;

	/* Slots are also in use for owners with requests in service, and for the awaited owner. */
	error = owners_init(&as->owners, max + limits->depth + 2);
	error = error ?: sorted_queue_init(&as->direction[IO_READ].sorted, max);
	error = error ?: sorted_queue_init(&as->direction[IO_WRITE].sorted, max);
	if (!error) {
		as->reader = port_zalloc(as->owners.capacity * sizeof(*as->reader));
		error = as->reader ? 0 : -ENOMEM;
	}
	if (error)
		anticipatory_exit(as);
	as->op = IO_WRITE; /* so that reads come first */
	return error;
}

static struct io_request *oldest(const struct anticipatory *as, u8 op)
{
	return as->direction[op].fifo.oldest;
}

/* Waits. */

static bool thinks_too_long(const struct anticipatory *as, const struct reader *reader)
{
	return reader->habits.think_ns > as->antic_expire_ns;
}

/*
 * On a device that serves several requests at once, an open wait continues when other requests
 * complete.
 */
static void wait_begin(struct anticipatory *as, u32 slot, u64 now_ns)
{
	if (as->wait.open)
		return;
	if (thinks_too_long(as, &as->reader[slot])) {
		as->waits_spared++;
		return;
	}
	as->wait = (struct wait){
		.open = true,
		.slot = slot,
		.until_ns = now_ns + as->antic_expire_ns,
	};
	owners_hold(&as->owners, slot);
}

static void wait_end(struct anticipatory *as, u64 *counter)
{
	if (!as->wait.open)
		return;
	if (as->wait.held)
		++*counter;
	as->wait.open = false;
	owners_put(&as->owners, as->wait.slot);
}

static void wait_end_if_over(struct anticipatory *as, u64 now_ns)
{
	if (now_ns >= as->wait.until_ns)
		wait_end(as, &as->waits_lost);
}

static void wait_see_read(struct anticipatory *as, const struct io_request *rq,
			  u64 now_ns)
{
	wait_end_if_over(as, now_ns);
	if (!as->wait.open || rq->slot != as->wait.slot)
		return;
	as->wait_paid = as->wait.held;
	wait_end(as, &as->waits_won);
}

static bool will_be_waited_for(const struct anticipatory *as,
			       const struct reader *reader)
{
	return reader->in_service && !reader->reads && as->antic_expire_ns &&
	       !thinks_too_long(as, reader);
}

/* Return the reader for which the scheduler holds back other requests, or NULL. */
static const struct reader *awaited(const struct anticipatory *as)
{
	if (as->wait.open)
		return &as->reader[as->wait.slot];
	return as->last && will_be_waited_for(as, as->last) ? as->last : NULL;
}

static bool is_close(const struct anticipatory *as, const struct io_request *rq,
		     const struct reader *reader)
{
	u64 distance = distance_from(as->head, rq);

	return distance <= as->close_sectors || distance <= reader->habits.distance;
}

/* Order. */

/* Return the time from which the oldest request of the direction goes first. */
static u64 due_ns(const struct anticipatory *as, u8 op)
{
	u64 expire_ns = op == IO_READ ? as->read_expire_ns : as->write_expire_ns;
	u64 due_ns = oldest(as, op)->arrival_ns + expire_ns;
	u64 patient_until_ns = as->direction[op].patient_until_ns;

	return due_ns > patient_until_ns ? due_ns : patient_until_ns;
}

static u64 rank(const struct anticipatory *as, const struct io_request *rq)
{
	return near_rank(&as->near, as->head, rq);
}

/* Return the next request above the head or a short step below it, or else the lowest. */
static struct io_request *nearest(const struct anticipatory *as, u8 op)
{
	const struct sorted_queue *sorted = &as->direction[op].sorted;
	struct io_request *ahead = sorted_queue_sweep(sorted, as->head);
	u32 i = sorted_queue_from(sorted, as->head);
	struct io_request *behind;

	if (!i)
		return ahead;
	i = sorted_queue_from(sorted, sorted->slot[i - 1]->sector);
	behind = sorted->slot[i];
	return rank(as, behind) < rank(as, ahead) ? behind : ahead;
}

/* Pending requests. */

static void put_in(struct anticipatory *as, struct io_request *rq)
{
	bool is_new;

	rq->slot = owners_get(&as->owners, rq->owner, &is_new);
	if (is_new)
		as->reader[rq->slot] = (struct reader){ .reads = 0 };
	as->reader[rq->slot].reads += rq->op == IO_READ;
	sorted_queue_add(&as->direction[rq->op].sorted, rq);
	fifo_add(&as->direction[rq->op].fifo, rq);
}

static void take_out(struct anticipatory *as, struct io_request *rq)
{
	as->reader[rq->slot].reads -= rq->op == IO_READ;
	sorted_queue_remove(&as->direction[rq->op].sorted, rq);
	fifo_remove(&as->direction[rq->op].fifo, rq);
}

static void anticipatory_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct anticipatory *as = state;

	put_in(as, rq);
	if (rq->op != IO_READ)
		return;
	habits_act(&as->reader[rq->slot].habits, rq, now_ns, 2 * as->antic_expire_ns);
	wait_see_read(as, rq, now_ns);
}

static void anticipatory_remove(void *state, struct io_request *rq)
{
	struct anticipatory *as = state;

	take_out(as, rq);
	owners_put(&as->owners, rq->slot);
}

/* Hand out a request. The owner's slot stays in use until the request completes. */
static struct io_request *hand_out(struct anticipatory *as, struct io_request *rq,
				   enum pick_reason reason)
{
	take_out(as, rq);
	wait_end(as, &as->waits_cut);
	as->wait_paid = false;
	as->head = request_end(rq);
	as->reader[rq->slot].in_service += rq->op == IO_READ;
	as->last = rq->op == IO_READ ? &as->reader[rq->slot] : NULL;
	rq->reason = reason;
	return rq;
}

static struct io_request *serve_expired(struct anticipatory *as, u64 now_ns)
{
	struct direction *direction = &as->direction[as->op];

	direction->patient_until_ns =
		now_ns + (as->op == IO_READ ? as->read_expire_ns : as->write_expire_ns);
	as->expired++;
	return hand_out(as, oldest(as, as->op), PICK_EXPIRED);
}

static struct io_request *serve_nearest(struct anticipatory *as, struct io_request *rq)
{
	if (rq->sector < as->head && rank(as, rq) < NEAR_NEXT_SWEEP)
		as->back_steps++;
	return hand_out(as, rq, as->wait_paid ? PICK_WAITED : PICK_ORDER);
}

/* Batches. */

static bool batch_is_over(const struct anticipatory *as, u64 now_ns)
{
	if (now_ns >= as->batch_end_ns)
		return true;
	return !oldest(as, as->op) && !(as->op == IO_READ && awaited(as));
}

static void batch_begin(struct anticipatory *as, u64 now_ns)
{
	u8 other = as->op == IO_READ ? IO_WRITE : IO_READ;

	if (oldest(as, other)) {
		wait_end(as, &as->waits_cut);
		as->op = other;
	}
	if (as->op == IO_READ)
		as->read_batches++;
	else
		as->write_batches++;
	as->batch_end_ns =
		now_ns + (as->op == IO_READ ? as->read_batch_ns : as->write_batch_ns);
}

/* Return the time at which waiting may end if no request arrives or completes earlier. */
static u64 wait_wake_ns(const struct anticipatory *as)
{
	u64 wake_ns = as->wait.open ? as->wait.until_ns : U64_MAX;

	if (oldest(as, IO_READ) && due_ns(as, IO_READ) < wake_ns)
		wake_ns = due_ns(as, IO_READ);
	if (oldest(as, IO_WRITE) && as->batch_end_ns < wake_ns)
		wake_ns = as->batch_end_ns;
	return wake_ns;
}

/* Return the next read, or NULL to wait. During a wait, possibly no read is pending. */
static struct io_request *read_next(struct anticipatory *as, u64 now_ns, u64 *wake_ns)
{
	struct io_request *rq = oldest(as, IO_READ) ? nearest(as, IO_READ) : NULL;
	const struct reader *reader = awaited(as);

	if (rq && now_ns >= due_ns(as, IO_READ))
		return serve_expired(as, now_ns);
	if (rq && !reader)
		return serve_nearest(as, rq);
	if (rq && is_close(as, rq, reader)) {
		as->close_reads++;
		return serve_nearest(as, rq);
	}
	as->wait.held = true;
	*wake_ns = wait_wake_ns(as);
	return NULL;
}

static bool anticipatory_has_work(const void *state)
{
	const struct anticipatory *as = state;

	return oldest(as, IO_READ) || oldest(as, IO_WRITE);
}

static struct io_request *anticipatory_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct anticipatory *as = state;

	if (!anticipatory_has_work(as))
		return NULL;
	wait_end_if_over(as, now_ns);
	if (batch_is_over(as, now_ns))
		batch_begin(as, now_ns);
	if (as->op == IO_READ)
		return read_next(as, now_ns, wake_ns);
	if (now_ns >= due_ns(as, IO_WRITE))
		return serve_expired(as, now_ns);
	return serve_nearest(as, nearest(as, IO_WRITE));
}

static void anticipatory_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct anticipatory *as = state;
	struct reader *reader = &as->reader[rq->slot];

	reader->in_service -= rq->op == IO_READ;
	if (rq->op == IO_READ && !reader->reads && !reader->in_service) {
		habits_think(&reader->habits, rq, now_ns);
		wait_begin(as, rq->slot, now_ns);
	}
	owners_put(&as->owners, rq->slot);
}

static const struct scheduler anticipatory_scheduler = {
	.name = "anticipatory",
	.summary =
		"waits for the next read of the process just served, if it comes soon",
	.state_size = sizeof(struct anticipatory),
	.tunables = anticipatory_tunables,
	.nr_tunables = ARRAY_SIZE(anticipatory_tunables),
	.counters = anticipatory_counters,
	.nr_counters = ARRAY_SIZE(anticipatory_counters),
	.init = anticipatory_init,
	.exit = anticipatory_exit,
	.add = anticipatory_add,
	.remove = anticipatory_remove,
	.next = anticipatory_next,
	.completed = anticipatory_completed,
	.has_work = anticipatory_has_work,
};
REGISTER_SCHEDULER(anticipatory_scheduler);
