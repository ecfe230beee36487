// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * CATS, the cache-aware table scheduler (PERFORM 2010 section 3 and its slides). Whenever the disk
 * is free, the first applicable rule decides:
 *
 * 1. Predicted hit. The oldest read that is wholly inside one segment of the shadow cache is served
 * at once, also during a burst or a wait. Such a read does not move the head.
 *
 * 2. Overdue writes. When the oldest write is max_write_delay_ns old, all writes pending at that
 * time are served in a burst, in C-SCAN order. The next burst by this rule may begin only after as
 * many reads have been served as were pending at the end of the last such burst. So neither reads
 * nor writes can starve the others.
 *
 * 3. READDELAY. While the oldest read is at least read_delay_ns old, reads are served in C-SCAN
 * order. The deadline is soft: it is met within the next sweep.
 *
 * 4. Busdriver. When a read completes and its owner has no other read pending, the disk is kept
 * idle for up to busdriver_ns for that owner's next read, which is likely to be near. The wait is
 * won if that read arrives in time (rule 5 then compares it with the others), lost if time runs
 * out, and cut short by rules 1-3. A wait is counted only if it delayed a pending read. Writes are
 * delayed as well, since they would move the head away. There is no wait after a write, or while
 * rule 2 applies.
 *
 * 5. Table. The first read of the statically optimal order is served. The order is kept until a
 * read arrives or is taken back, or until another request is served.
 *
 * 6. No read is pending. When the oldest write is min_write_delay_ns old, the writes pending at
 * that time are served as in rule 2, but the burst ends when a read arrives.
 *
 * Every read handed out is inserted into the shadow cache; every write drops the spans that it
 * overlaps. The paper leaves open which arrival ends the busdriver's wait, and the slides only name
 * MIN and MAX WRITEDELAY. On these points, rules 2, 4 and 6 are this project's choice. The host,
 * not the scheduler, coalesces requests; it removes them from the scheduler to do so.
 */
#include "../busdriver.h"
#include "../fifo.h"
#include "../plan.h"
#include "../scheduler.h"
#include "../shadow_cache.h"
#include "../sorted_queue.h"

#define MS 1000000ull
#define HOUR (3600000 * MS)

/**
 * struct burst - the writes being served in one burst
 * @end_id: the burst consists of the pending writes with smaller ids
 * @overdue: was the burst begun by rule 2, not by rule 6?
 * @reads_owed: reads from the medium to serve before the next overdue burst
 */
struct burst {
	u64 end_id;
	bool overdue;
	u32 reads_owed;
};

struct cats {
	u64 read_delay_ns;
	u64 min_write_delay_ns;
	u64 max_write_delay_ns;

	u64 hits;
	u64 table_picks;
	u64 sweeps;
	u64 write_bursts;
	u64 coalesced;

	struct sorted_queue sorted[IO_OPS];
	struct fifo fifo[IO_OPS];
	u64 head; /* end of the last request handed out for the medium */
	struct busdriver busdriver;
	struct burst burst;
	struct plan plan;
	struct shadow_cache shadow;
};

#define SHADOW_TUNABLE(field, initial_, max_, help_)                 \
	{                                                            \
		.name = "shadow_" #field, .help = help_,             \
		.offset = offsetof(struct cats, shadow.cache.field), \
		.initial = initial_, .min = 0, .max = max_           \
	}

static const struct sched_field cats_tunables[] = {
	BUSDRIVER_TUNABLE(cats),
	SCHED_TUNABLE(cats, read_delay_ns, 100 * MS, 0, HOUR,
		      "age of the oldest read at which reads are swept"),
	SCHED_TUNABLE(cats, min_write_delay_ns, 10 * MS, 0, HOUR,
		      "age of the oldest write at which writes may go, without reads"),
	SCHED_TUNABLE(cats, max_write_delay_ns, 500 * MS, 0, HOUR,
		      "age of the oldest write at which writes go before reads"),
	SHADOW_TUNABLE(segments, 64, DISK_CACHE_SEGMENTS_MAX,
		       "segments of the disk's cache; 0 predicts no hits"),
	SHADOW_TUNABLE(segment_sectors, 221, 1ull << 32, "sectors in a segment"),
	SHADOW_TUNABLE(prefetch_sectors, 64, 1ull << 32,
		       "sectors read ahead after each read"),
};

static const struct sched_field cats_counters[] = {
	SCHED_COUNTER(cats, hits, "reads served as predicted hits"),
	SCHED_COUNTER(cats, table_picks, "reads served from the table"),
	PLAN_COUNTER(cats),
	SCHED_COUNTER(cats, sweeps, "reads served in C-SCAN order, overdue"),
	BUSDRIVER_COUNTER(cats, won, "that its read ended"),
	BUSDRIVER_COUNTER(cats, lost, "that ran out of time"),
	BUSDRIVER_COUNTER(cats, cut, "cut short"),
	SCHED_COUNTER(cats, write_bursts, "bursts of writes begun"),
	SCHED_COUNTER(cats, coalesced, "requests taken back to be coalesced"),
};

static void cats_exit(void *state)
{
	struct cats *cats = state;

	sorted_queue_exit(&cats->sorted[IO_READ]);
	sorted_queue_exit(&cats->sorted[IO_WRITE]);
	plan_exit(&cats->plan);
}

static int cats_init(void *state, const struct sched_limits *limits)
{
	struct cats *cats = state;
	u32 max = limits->max_requests;
	int error = sorted_queue_init(&cats->sorted[IO_READ], max);

	error = error ?: sorted_queue_init(&cats->sorted[IO_WRITE], max);
	error = error ?: plan_init(&cats->plan, limits);
	if (error)
		cats_exit(cats);
	return error;
}

static bool is_due(const struct io_request *rq, u64 delay_ns, u64 now_ns)
{
	return rq && now_ns >= rq->arrival_ns + delay_ns;
}

static bool write_is_overdue(const struct cats *cats, u64 now_ns)
{
	return is_due(cats->fifo[IO_WRITE].oldest, cats->max_write_delay_ns, now_ns);
}

/* Return the first time at which a rule other than rule 4 may apply. */
static u64 wait_wake_ns(const struct cats *cats)
{
	const struct io_request *read = cats->fifo[IO_READ].oldest;
	const struct io_request *write = cats->fifo[IO_WRITE].oldest;
	u64 wake_ns = cats->busdriver.until_ns;

	if (read && read->arrival_ns + cats->read_delay_ns < wake_ns)
		wake_ns = read->arrival_ns + cats->read_delay_ns;
	if (write && write->arrival_ns + cats->max_write_delay_ns < wake_ns)
		wake_ns = write->arrival_ns + cats->max_write_delay_ns;
	return wake_ns;
}

static void take(struct cats *cats, struct io_request *rq)
{
	sorted_queue_remove(&cats->sorted[rq->op], rq);
	fifo_remove(&cats->fifo[rq->op], rq);
	if (rq->op == IO_READ)
		shadow_cache_remove(&cats->shadow, rq);
}

static void cats_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct cats *cats = state;

	sorted_queue_add(&cats->sorted[rq->op], rq);
	fifo_add(&cats->fifo[rq->op], rq);
	if (rq->op != IO_READ)
		return;
	shadow_cache_add(&cats->shadow, rq);
	plan_forget(&cats->plan);
	busdriver_see(&cats->busdriver, rq->owner, now_ns);
}

static void cats_remove(void *state, struct io_request *rq)
{
	struct cats *cats = state;

	cats->coalesced++;
	take(cats, rq);
	if (rq->op == IO_READ)
		plan_forget(&cats->plan);
}

/* Hand out a request, with the bookkeeping that every request needs. */
static struct io_request *hand_out(struct cats *cats, struct io_request *rq,
				   enum pick_reason reason)
{
	take(cats, rq);
	busdriver_leave(&cats->busdriver);
	if (rq->op == IO_READ)
		shadow_cache_read(&cats->shadow, rq, &cats->sorted[IO_READ]);
	else
		shadow_cache_write(&cats->shadow, rq);
	if (reason != PICK_HIT)
		cats->head = request_end(rq);
	if (rq->op == IO_READ && reason != PICK_HIT && cats->burst.reads_owed)
		cats->burst.reads_owed--;
	rq->reason = reason;
	return rq;
}

/* Rules 2 and 6: bursts. */

static bool burst_goes_on(const struct cats *cats)
{
	const struct io_request *oldest = cats->fifo[IO_WRITE].oldest;

	return oldest && oldest->id < cats->burst.end_id;
}

static void burst_begin(struct cats *cats, bool overdue)
{
	cats->burst.end_id = cats->fifo[IO_WRITE].newest->id + 1;
	cats->burst.overdue = overdue;
	cats->write_bursts++;
}

/* Hand out the next write of the burst: the first one at or above the head, or else the lowest. */
static struct io_request *burst_next(struct cats *cats)
{
	const struct sorted_queue *writes = &cats->sorted[IO_WRITE];
	u32 i = sorted_queue_from(writes, cats->head);

	while (i == writes->count || writes->slot[i]->id >= cats->burst.end_id)
		i = i < writes->count ? i + 1 : 0;
	plan_forget(&cats->plan);
	return hand_out(cats, writes->slot[i], PICK_BURST);
}

static bool overdue_writes_go(struct cats *cats, u64 now_ns)
{
	struct burst *burst = &cats->burst;
	u32 reads = cats->sorted[IO_READ].count;

	if (burst->overdue && burst_goes_on(cats))
		return true;
	if (burst->overdue) {
		burst->overdue = false;
		burst->reads_owed = reads;
	}
	if (burst->reads_owed > reads)
		burst->reads_owed = reads;
	if (burst->reads_owed || !write_is_overdue(cats, now_ns))
		return false;
	burst_begin(cats, true);
	return true;
}

/* Rule 5. */

static struct io_request *table_next(struct cats *cats)
{
	cats->table_picks++;
	return hand_out(cats,
			plan_next(&cats->plan, &cats->sorted[IO_READ], cats->head),
			cats->busdriver.paid ? PICK_WAITED : PICK_TABLE);
}

/* Apply rules 3 to 5; at least one read is pending. */
static struct io_request *read_next(struct cats *cats, u64 now_ns, u64 *wake_ns)
{
	cats->burst.end_id = 0;
	if (is_due(cats->fifo[IO_READ].oldest, cats->read_delay_ns, now_ns)) {
		cats->sweeps++;
		plan_forget(&cats->plan);
		return hand_out(cats,
				sorted_queue_sweep(&cats->sorted[IO_READ], cats->head),
				PICK_EXPIRED);
	}
	if (cats->busdriver.waits && !write_is_overdue(cats, now_ns)) {
		cats->busdriver.held = true;
		*wake_ns = wait_wake_ns(cats);
		return NULL;
	}
	return table_next(cats);
}

/* Apply rules 4 and 6; only writes are pending, and none of them is overdue. */
static struct io_request *write_next(struct cats *cats, u64 now_ns, u64 *wake_ns)
{
	const struct io_request *oldest = cats->fifo[IO_WRITE].oldest;

	if (burst_goes_on(cats))
		return burst_next(cats);
	if (cats->busdriver.waits) {
		*wake_ns = wait_wake_ns(cats);
		return NULL;
	}
	if (!is_due(oldest, cats->min_write_delay_ns, now_ns)) {
		*wake_ns = oldest->arrival_ns + cats->min_write_delay_ns;
		if (*wake_ns > oldest->arrival_ns + cats->max_write_delay_ns)
			*wake_ns = oldest->arrival_ns + cats->max_write_delay_ns;
		return NULL;
	}
	burst_begin(cats, false);
	return burst_next(cats);
}

static struct io_request *cats_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct cats *cats = state;
	struct io_request *hit = shadow_cache_find(&cats->shadow, &cats->fifo[IO_READ]);

	busdriver_look_at_clock(&cats->busdriver, now_ns);
	if (hit) {
		cats->hits++;
		plan_forget(&cats->plan);
		return hand_out(cats, hit, PICK_HIT);
	}
	if (overdue_writes_go(cats, now_ns))
		return burst_next(cats);
	if (cats->fifo[IO_READ].oldest)
		return read_next(cats, now_ns, wake_ns);
	if (cats->fifo[IO_WRITE].oldest)
		return write_next(cats, now_ns, wake_ns);
	return NULL;
}

static void cats_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct cats *cats = state;

	if (rq->op == IO_READ)
		busdriver_begin(&cats->busdriver, rq->owner, &cats->sorted[IO_READ],
				now_ns);
}

static bool cats_has_work(const void *state)
{
	const struct cats *cats = state;

	return cats->sorted[IO_READ].count || cats->sorted[IO_WRITE].count;
}

static const struct scheduler cats_scheduler = {
	.name = "cats",
	.summary = "cache-aware table scheduling with a busdriver",
	.state_size = sizeof(struct cats),
	.tunables = cats_tunables,
	.nr_tunables = ARRAY_SIZE(cats_tunables),
	.counters = cats_counters,
	.nr_counters = ARRAY_SIZE(cats_counters),
	.init = cats_init,
	.exit = cats_exit,
	.add = cats_add,
	.remove = cats_remove,
	.next = cats_next,
	.completed = cats_completed,
	.has_work = cats_has_work,
};
REGISTER_SCHEDULER(cats_scheduler);
