// SPDX-License-Identifier: MIT
/*
 * Replaying a tape, call by call: what reaches the scheduler, what its answers become on the tape,
 * which calls are skipped, and which tapes are refused.  The scheduler here serves the newest
 * request first and records its calls.
 */
#include <string.h>

#include "../../sim/replay.h"
#include "check.h"

#define CALLS 16
#define PLACES 4

struct stack {
	u64 tunable;
	u64 counter;
	struct io_request *pending[PLACES];
	u32 nr_pending;
};

static struct {
	struct io_request added[CALLS];
	u64 added_ns[CALLS], asked_ns[CALLS], completed_ns[CALLS];
	u64 removed[CALLS], completed[CALLS]; /* ids */
	u32 adds, removes, asks, completions, exits;
	u64 tunable;
	u64 positioning_ns;
	struct sched_limits limits;
} seen;

static u8 reason = PICK_WAITED; /* the reason it reports */
static const char *rule = ""; /* the rule it breaks */

static int stack_init(void *state, const struct sched_limits *limits)
{
	seen.limits = *limits;
	return limits->max_requests == 99 ? -ENOMEM : 0;
}

static void stack_exit(void *state)
{
	seen.exits++;
}

static void stack_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct stack *stack = state;

	stack->pending[stack->nr_pending++] = rq;
	stack->counter += stack->tunable;
	seen.added_ns[seen.adds] = now_ns;
	seen.added[seen.adds++] = *rq;
}

static void stack_remove(void *state, struct io_request *rq)
{
	struct stack *stack = state;

	CHECK(stack->pending[--stack->nr_pending] == rq);
	seen.removed[seen.removes++] = rq->id;
}

static struct io_request *stack_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct stack *stack = state;

	seen.asked_ns[seen.asks++] = now_ns;
	if (stack->nr_pending)
		seen.positioning_ns = seen.limits.positioning_ns(
			seen.limits.device, stack->pending[0], now_ns);
	if (!stack->nr_pending) {
		*wake_ns = now_ns + 77;
		return NULL;
	}
	stack->pending[--stack->nr_pending]->reason = reason;
	return stack->pending[stack->nr_pending];
}

static void stack_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	seen.completed_ns[seen.completions] = now_ns;
	seen.completed[seen.completions++] = rq->id;
}

static bool stack_has_work(const void *state)
{
	return ((const struct stack *)state)->nr_pending;
}

static void stack_grown(void *state, u64 capacity_sectors)
{
	seen.limits.capacity_sectors = capacity_sectors;
}

static const struct sched_field tunables[] = { SCHED_TUNABLE(stack, tunable, 1, 0, 9,
							     "") };
static const struct sched_field counters[] = { SCHED_COUNTER(stack, counter, "") };

static struct scheduler scheduler = {
	.name = "stack",
	.state_size = sizeof(struct stack),
	.tunables = tunables,
	.nr_tunables = 1,
	.counters = counters,
	.nr_counters = 1,
	.init = stack_init,
	.exit = stack_exit,
	.add = stack_add,
	.remove = stack_remove,
	.next = stack_next,
	.completed = stack_completed,
	.has_work = stack_has_work,
	.grown = stack_grown,
};

static struct tape_call tape[CALLS];
static u64 nr_calls, counter;
static u32 max_requests = PLACES;

/* Return a new call whose fields are nonzero, except those that must be 0. */
static struct tape_call *call(enum tape_kind kind, u64 id, u32 place)
{
	struct tape_call *new = &tape[nr_calls++];

	*new = (struct tape_call){
		.now_ns = 1000 + 10 * nr_calls,
		.id = id,
		.arrival_ns = 500 + id,
		.sector = 100 * id,
		.sectors = 8 + id,
		.owner = 30 + id,
		.weight = 40 + id,
		.place = place,
		.kind = kind,
		.op = IO_WRITE,
		.io_class = IO_CLASS_IDLE,
		.level = 5,
	};
	return new;
}

static int run(void)
{
	static const u64 tunable = 3;
	static char broken[CONTRACT_TEXT];
	static struct sim_watch watch;
	struct replay replay = {
		.scheduler = &scheduler,
		.tunables = &tunable,
		.counters = &counter,
		.capacity_sectors = 12345,
		.max_requests = max_requests,
		.depth = 7,
		.places = PLACES,
		.nr_calls = nr_calls,
		.calls = tape,
		.broken = broken,
		.watch = &watch,
	};
	int error;

	memset(&seen, 0, sizeof(seen));
	watch.events = 0;
	error = replay_run(&replay);
	CHECK(!strcmp(broken, rule));
	CHECK(error || watch.events == nr_calls);
	return error;
}

static void begin(void)
{
	memset(tape, 0xff, sizeof(tape));
	nr_calls = 0;
	max_requests = PLACES;
}

static void all_of_a_request_is_handed_over(void)
{
	const struct io_request *rq = &seen.added[0];

	begin();
	call(TAPE_ADD, 7, 2);
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.limits.capacity_sectors, 12345);
	CHECK_EQ(seen.limits.max_requests, PLACES);
	CHECK_EQ(seen.limits.depth, 7);
	CHECK_EQ(seen.adds, 1);
	CHECK_EQ(seen.added_ns[0], 1010);
	CHECK_EQ(rq->id, 7);
	CHECK_EQ(rq->arrival_ns, 507);
	CHECK_EQ(rq->sector, 700);
	CHECK_EQ(rq->sectors, 15);
	CHECK_EQ(rq->owner, 37);
	CHECK_EQ(rq->weight, 47);
	CHECK_EQ(rq->op, IO_WRITE);
	CHECK_EQ(rq->io_class, IO_CLASS_IDLE);
	CHECK_EQ(rq->level, 5);
	CHECK_EQ(counter, 3);
	CHECK_EQ(seen.exits, 1);
}

static void the_answer_is_written_over_the_tape(void)
{
	static const struct tape_call nothing = { .now_ns = 1010,
						  .wake_ns = 1087,
						  .kind = TAPE_NEXT };
	struct tape_call want;

	begin();
	call(TAPE_NEXT, 9, 3);
	want = *call(TAPE_ADD, 7, 2);
	call(TAPE_NEXT, 0, 0);
	CHECK_EQ(run(), 0);
	CHECK(!memcmp(&tape[0], &nothing, sizeof(nothing)));
	CHECK_EQ(seen.asked_ns[1], 1030);
	want.now_ns = 1030;
	want.kind = TAPE_NEXT;
	want.reason = PICK_WAITED;
	CHECK(!memcmp(&tape[2], &want, sizeof(want)));
}

/* The time is recorded for a pending request, and ignored for any other id. */
static void what_the_host_foresaw_is_told(void)
{
	begin();
	call(TAPE_ADD, 1, 0);
	call(TAPE_POSITIONING, 1, 0)->wake_ns = 4321;
	call(TAPE_POSITIONING, 2, 0)->wake_ns = 5;
	call(TAPE_NEXT, 0, 0);
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.positioning_ns, 4321);
}

static void a_broken_rule_is_named(void)
{
	reason = PICK_REASONS;
	rule = "next gave an unknown reason for request 7";
	begin();
	call(TAPE_ADD, 7, 2);
	call(TAPE_NEXT, 0, 0);
	CHECK_EQ(run(), -EPROTO);
	reason = PICK_WAITED;
	rule = "";
}

static void places_are_free_again(void)
{
	begin();
	call(TAPE_ADD, 1, 0);
	call(TAPE_REMOVE, 1, 0);
	call(TAPE_ADD, 2, 0);
	call(TAPE_NEXT, 0, 0);
	call(TAPE_COMPLETED, 2, 0);
	call(TAPE_ADD, 3, 0);
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.removed[0], 1);
	CHECK_EQ(seen.completed[0], 2);
	CHECK_EQ(seen.completed_ns[0], 1050);
	CHECK_EQ(seen.adds, 3);

	scheduler.completed = NULL;
	CHECK_EQ(run(), 0);
	scheduler.completed = stack_completed;
}

/* On a tape without answers, id 0 means the last request handed out, if any. */
static void a_tape_without_answers(void)
{
	begin();
	call(TAPE_NEXT, 0, 0);
	call(TAPE_COMPLETED, 0, 0);
	call(TAPE_ADD, 5, 1);
	call(TAPE_NEXT, 0, 0);
	call(TAPE_COMPLETED, 0, 0);
	call(TAPE_COMPLETED, 0, 0);
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.completions, 1);
	CHECK_EQ(seen.completed[0], 5);
}

/* The scheduler decides differently from the tape, and calls that no longer fit are skipped. */
static void other_decisions(void)
{
	begin();
	call(TAPE_ADD, 1, 0);
	call(TAPE_ADD, 2, 1);
	call(TAPE_NEXT, 1, 0); /* hands out 2 */
	call(TAPE_REMOVE, 2, 1);
	call(TAPE_REMOVE, 9, 0);
	call(TAPE_COMPLETED, 1, 0);
	call(TAPE_COMPLETED, 9, 1);
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.removes, 0);
	CHECK_EQ(seen.completions, 0);
	CHECK_EQ(tape[2].id, 2);
}

/* The limit of pending requests is exact; requests that were removed or served do not count. */
static void room(void)
{
	begin();
	max_requests = 1;
	call(TAPE_ADD, 1, 0);
	call(TAPE_REMOVE, 1, 0);
	call(TAPE_ADD, 2, 0);
	call(TAPE_NEXT, 0, 0);
	call(TAPE_ADD, 3, 1);
	CHECK_EQ(run(), 0);
	call(TAPE_ADD, 4, 2);
	CHECK_EQ(run(), -ENOSPC);
	CHECK_EQ(seen.adds, 3);
	CHECK_EQ(seen.exits, 1);
}

static void the_disk_grows(void)
{
	begin();
	call(TAPE_GROWN, 0, 0)->sector = 54321;
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.limits.capacity_sectors, 54321);
}

static void no_tapes(void)
{
	begin();
	call(TAPE_ADD, 1, 0);
	call(TAPE_ADD, 2, 0);
	CHECK_EQ(run(), -EINVAL);
	CHECK_EQ(seen.adds, 1);

	begin();
	call(TAPE_ADD, 1, PLACES - 1);
	CHECK_EQ(run(), 0);
	call(TAPE_NEXT, 1, PLACES);
	CHECK_EQ(run(), -EINVAL);

	begin();
	call(TAPE_KINDS, 1, 0);
	call(TAPE_ADD, 1, 0);
	CHECK_EQ(run(), -EINVAL);
	CHECK_EQ(seen.adds, 0);
}

static void no_memory(void)
{
	int error = -ENOMEM;
	u32 granted;

	begin();
	call(TAPE_ADD, 1, 0);
	for (granted = 0; error; granted++) {
		port_grant(granted);
		error = run();
		CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
	}
	CHECK_EQ(granted, 5);
	max_requests = 99;
	CHECK_EQ(run(), -ENOMEM);
	CHECK_EQ(seen.exits, 0);
	scheduler.init = NULL;
	scheduler.exit = NULL;
	max_requests = PLACES;
	CHECK_EQ(run(), 0);
	CHECK_EQ(seen.adds, 1);
}

int main(void)
{
	all_of_a_request_is_handed_over();
	the_answer_is_written_over_the_tape();
	what_the_host_foresaw_is_told();
	a_broken_rule_is_named();
	places_are_free_again();
	a_tape_without_answers();
	other_decisions();
	room();
	the_disk_grows();
	no_tapes();
	no_memory();
	return 0;
}
