// SPDX-License-Identifier: MIT
/*
 * When a scheduler breaks a rule, the report names the rule and the request.  The host
 * continues without the scheduler: every other request is served once, in order of
 * arrival.
 */
#include <string.h>

#include "../../core/contract.h"
#include "check.h"

#define PLACES 8
#define FIVE 5000000000ull

/* The host's structure is larger than a request, as in the simulator. */
struct place {
	struct io_request io;
	u64 of_the_host;
};

/* The state of a scheduler whose answers the test dictates. */
struct actor {
	u64 wait_ns;
	u64 ns_of_nothing;
	u64 done;
	struct io_request *answer;
	u64 wake_ns;
	u32 pending;
	s64 lie; /* error in its count of pending requests */
	int error;
	u32 exits;
	u32 calls;
};

static int actor_init(void *state, const struct sched_limits *limits)
{
	struct actor *actor = state;

	return actor->error;
}

static void actor_exit(void *state)
{
	struct actor *actor = state;

	actor->exits++;
}

static void actor_add(void *state, struct io_request *rq, u64 now_ns)
{
	struct actor *actor = state;

	actor->pending++;
	actor->calls++;
}

static void actor_remove(void *state, struct io_request *rq)
{
	struct actor *actor = state;

	actor->pending--;
	actor->calls++;
}

static struct io_request *actor_next(void *state, u64 now_ns, u64 *wake_ns)
{
	struct actor *actor = state;

	actor->calls++;
	if (actor->wake_ns && wake_ns)
		*wake_ns = actor->wake_ns;
	if (actor->answer)
		actor->pending--;
	return actor->answer;
}

static void actor_completed(void *state, const struct io_request *rq, u64 now_ns)
{
	struct actor *actor = state;

	actor->calls++;
	actor->done++;
}

static struct io_request *actor_more(void *state, const struct io_request *chosen,
				     u64 now_ns)
{
	return actor_next(state, now_ns, NULL);
}

static bool actor_has_work(const void *state)
{
	const struct actor *actor = state;

	return actor->pending + actor->lie;
}

static const struct sched_field actor_tunables[] = {
	SCHED_TUNABLE(actor, wait_ns, 0, 0, U64_MAX, "how long it may wait"),
	SCHED_TUNABLE(actor, ns_of_nothing, 0, 0, U64_MAX,
		      "no time: _ns is not its end"),
};

static const struct sched_field actor_counters[] = {
	SCHED_COUNTER(actor, done, "requests served"),
};

static const struct scheduler good = {
	.name = "actor",
	.summary = "does what it is told",
	.state_size = sizeof(struct actor),
	.tunables = actor_tunables,
	.nr_tunables = ARRAY_SIZE(actor_tunables),
	.counters = actor_counters,
	.nr_counters = ARRAY_SIZE(actor_counters),
	.init = actor_init,
	.exit = actor_exit,
	.add = actor_add,
	.remove = actor_remove,
	.next = actor_next,
	.more = actor_more,
	.completed = actor_completed,
	.has_work = actor_has_work,
};

/* One stage for all scenes. */
static struct stage {
	struct contract contract;
	struct actor actor;
	struct place place[PLACES];
	u64 now_ns;
	u64 wake_ns;
} stage;

static void raise_curtain(void)
{
	struct sched_limits limits = { .capacity_sectors = 1000,
				       .max_requests = PLACES };

	stage = (struct stage){ .now_ns = FIVE };
	CHECK_EQ(contract_init(&stage.contract, &good, &stage.actor, &limits,
			       &stage.place[0].io, sizeof(stage.place[0]), PLACES),
		 0);
}

static struct io_request *add(u32 place, u64 id)
{
	struct io_request *rq = &stage.place[place].io;

	*rq = (struct io_request){ .id = id, .sectors = 8 };
	contract_add(&stage.contract, rq, stage.now_ns);
	return rq;
}

static struct io_request *next(struct io_request *answer)
{
	stage.actor.answer = answer;
	return contract_next(&stage.contract, stage.now_ns, &stage.wake_ns);
}

static void complete(struct io_request *rq)
{
	contract_completed(&stage.contract, rq, stage.now_ns);
}

static void expect(const char *words)
{
	if (strcmp(stage.contract.broken, words)) {
		fprintf(stderr, "\"%s\", not \"%s\"\n", stage.contract.broken, words);
		abort();
	}
}

/* After the report, requests come in order of arrival, and the actor is not called. */
static void drop_curtain(const char *words)
{
	u32 calls = stage.actor.calls;
	u64 last = 0;

	expect(words);
	while (contract_has_work(&stage.contract)) {
		struct io_request *rq = next(NULL);

		CHECK(rq && rq->id > last);
		CHECK_EQ(stage.wake_ns, 0);
		last = rq->id;
		complete(rq);
	}
	CHECK(!next(NULL));
	CHECK_EQ(stage.contract.pending, 0);
	CHECK_EQ(stage.actor.calls, calls);
	expect(words);
	contract_exit(&stage.contract);
	CHECK_EQ(stage.actor.exits, 1);
	contract_exit(&stage.contract);
	CHECK_EQ(stage.actor.exits, 1);
}

static void keeps_to_it(void)
{
	struct io_request *a, *b;

	raise_curtain();
	CHECK(!contract_has_work(&stage.contract));
	CHECK(!next(NULL));
	a = add(0, 1);
	b = add(7, 2);
	CHECK(contract_has_work(&stage.contract));
	CHECK(next(b) == b);
	/* A scheduler need not name a wake-up time while a request is in service. */
	CHECK(!next(NULL));
	complete(b);
	contract_remove(&stage.contract, a);
	a = add(0, 3);
	stage.actor.wake_ns = FIVE + 1;
	CHECK(!next(NULL));
	CHECK_EQ(stage.wake_ns, FIVE + 1);
	CHECK(next(a) == a);
	/* The slot holds a request in service, but none is pending. */
	CHECK(!contract_has_work(&stage.contract));
	complete(a);
	CHECK_EQ(stage.actor.done, 2);
	expect("");
	contract_exit(&stage.contract);
}

static void requests_are_given_once(void)
{
	struct io_request *a, *b;

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	add(2, 19);
	CHECK(next(a) == a);
	CHECK(next(a) == b); /* the oldest instead */
	drop_curtain("next returned request 17 twice");

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	CHECK(next(a) == a);
	complete(a);
	CHECK(next(a) == b);
	drop_curtain("next returned request 17 twice");

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	contract_remove(&stage.contract, a);
	CHECK(next(a) == b);
	drop_curtain("next returned request 17, which was taken back");
}

/* A changed field is named, whichever call changed it, and restored. */
static void fields_are_the_hosts(void)
{
	struct io_request *a, *b;

#define NAMED(field)                                           \
	do {                                                   \
		raise_curtain();                               \
		a = add(0, 17);                                \
		b = add(1, 18);                                \
		b->field += 1;                                 \
		CHECK(next(b) == a); /* the oldest instead */  \
		CHECK_EQ(b->field, a->field);                  \
		drop_curtain("it changed request 18's " #field \
			     ", which only the host may do");  \
	} while (0)
	NAMED(sector);
	NAMED(arrival_ns);
	NAMED(cost_ns);
	NAMED(sectors);
	NAMED(owner);
	NAMED(weight);
	NAMED(op);
	NAMED(io_class);
	NAMED(level);
	NAMED(joined);

	raise_curtain();
	a = add(0, 17);
	a->id = 3;
	next(a);
	CHECK_EQ(a->id, 17);
	drop_curtain("it changed request 17's id, which only the host may do");

	raise_curtain();
	a = add(0, 17);
	CHECK(next(a) == a);
	a->sector = 5;
	complete(a);
	CHECK_EQ(a->sector, 0);
	drop_curtain("it changed request 17's sector, which only the host may do");

	raise_curtain();
	a = add(0, 17);
	a->sectors = 1;
	contract_remove(&stage.contract, a);
	CHECK_EQ(a->sectors, 8);
	drop_curtain("it changed request 17's sectors, which only the host may do");
}

static void requests_are_the_hosts(void)
{
	struct io_request own, *wrong[] = {
		&own,
		&stage.place[3].io,
		(struct io_request *)((char *)&stage.place[0] + 8),
		(struct io_request *)&stage.place[PLACES],
		(struct io_request *)((char *)&stage.place[0] - sizeof(struct place)),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		raise_curtain();
		add(1, 2);
		add(0, 1);
		CHECK_EQ(next(wrong[i])->id, 1);
		drop_curtain("next returned a request that was never added");
	}
}

static struct io_request *more(const struct io_request *chosen,
			       struct io_request *answer)
{
	stage.actor.answer = answer;
	return contract_more(&stage.contract, chosen, stage.now_ns);
}

static void who_is_joined_is_the_owners(void)
{
	struct io_request *a, *b;

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	CHECK(next(a) == a);
	CHECK(!more(a, NULL));
	CHECK(more(a, b) == b);
	CHECK(b->joined && !a->joined);
	CHECK_EQ(stage.contract.in_service, 2);
	complete(a);
	complete(b);
	CHECK_EQ(stage.actor.done, 2);
	expect("");
	contract_exit(&stage.contract);

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	contract_remove(&stage.contract, b);
	b->owner = 5;
	contract_add(&stage.contract, b, stage.now_ns);
	CHECK(next(a) == a);
	CHECK(!more(a, b));
	CHECK(!more(a, b)); /* no scheduler is asked any more */
	drop_curtain("more returned request 18, which is another owner's");

	raise_curtain();
	a = add(0, 17);
	add(1, 18);
	CHECK(next(a) == a);
	CHECK(!more(a, a));
	drop_curtain("more returned request 17 twice");

	raise_curtain();
	a = add(0, 17);
	b = add(1, 18);
	add(2, 19);
	CHECK(next(a) == a);
	stage.actor.lie = -1;
	CHECK(more(a, b) == b); /* b is in service: the host must know */
	drop_curtain("has_work says no while request 19 is pending");
}

static void reasons_are_known(void)
{
	struct io_request *a;

	raise_curtain();
	a = add(0, 1);
	a->reason = PICK_REASONS;
	CHECK(next(a) == a);
	drop_curtain("next gave an unknown reason for request 1");
}

static void waits_end(void)
{
	raise_curtain();
	add(0, 17);
	CHECK_EQ(next(NULL)->id, 17);
	drop_curtain(
		"next holds request 17 back for ever: nothing is in service, and it "
		"names no time");

	raise_curtain();
	stage.actor.wake_ns = FIVE;
	next(NULL);
	drop_curtain("next asks to be called again 0 ns ago");

	raise_curtain();
	stage.actor.wake_ns = FIVE - 12;
	add(0, 1);
	CHECK(next(NULL) == &stage.place[0].io);
	CHECK_EQ(stage.wake_ns, 0);
	drop_curtain("next asks to be called again 12 ns ago");
}

/*
 * A scheduler may wait ten seconds plus twice the wait of its tunables, counted from the start of
 * its first wait.
 */
static void waits_are_not_put_off(void)
{
	u64 most = 2 * FIVE;
	u32 i;

	for (i = 0; i < 2; i++, most += 2 * FIVE) {
		raise_curtain();
		stage.actor.wait_ns = i * FIVE;
		stage.actor.ns_of_nothing = FIVE;
		contract_tuned(&stage.contract);
		/* The current wait may exceed the lower setting. */
		stage.actor.wait_ns = 0;
		contract_tuned(&stage.contract);
		/* With no request pending, no wait is counted; a dispatch ends a wait. */
		stage.actor.wake_ns = 2 * FIVE;
		CHECK(!next(NULL));
		add(0, 1);
		CHECK(!next(NULL));
		CHECK(next(&stage.place[0].io));
		complete(&stage.place[0].io);
		CHECK(!next(NULL));
		stage.now_ns = 2 * FIVE;
		add(1, 2);
		stage.actor.wake_ns = 2 * FIVE + most;
		CHECK(!next(NULL));
		stage.now_ns = 2 * FIVE + most - 1;
		CHECK(!next(NULL));
		expect("");
		stage.actor.wake_ns = 2 * FIVE + most + 1;
		CHECK(next(NULL) == &stage.place[1].io);
		drop_curtain("next holds request 2 back for longer than its tunables "
			     "allow");
	}

	raise_curtain();
	stage.actor.wait_ns = U64_MAX;
	contract_tuned(&stage.contract);
	stage.actor.wake_ns = U64_MAX;
	add(0, 1);
	CHECK(!next(NULL));
	expect("");
	contract_exit(&stage.contract);
}

/* A new wait is counted from its own start. */
static void waits_end_with_whom_they_were_for(void)
{
	raise_curtain();
	add(0, 1);
	stage.actor.wake_ns = 2 * FIVE;
	CHECK(!next(NULL));
	contract_remove(&stage.contract, &stage.place[0].io);
	CHECK(!next(NULL));
	stage.now_ns = 4 * FIVE;
	add(0, 2);
	stage.actor.wake_ns = 5 * FIVE;
	CHECK(!next(NULL));
	expect("");
	contract_exit(&stage.contract);
}

static void work_is_told_of(void)
{
	struct io_request *a;

	raise_curtain();
	add(1, 18);
	a = add(0, 17);
	stage.actor.lie = -2;
	CHECK(contract_has_work(&stage.contract));
	drop_curtain("has_work says no while request 17 is pending");

	/* has_work may promise a request, so the scheduler is asked. */
	raise_curtain();
	stage.actor.lie = 1;
	CHECK(contract_has_work(&stage.contract));
	expect("");
	CHECK(!next(NULL));
	drop_curtain("has_work says yes while no request is pending");

	raise_curtain();
	stage.actor.lie = 1;
	a = add(0, 17);
	CHECK(next(a) == a);
	complete(a);
	CHECK(contract_has_work(&stage.contract));
	CHECK(!next(a));
	drop_curtain("next returned request 17 twice");

	/* A good choice stays one. */
	raise_curtain();
	add(1, 16);
	a = add(0, 17);
	stage.actor.lie = -1;
	CHECK(next(a) == a);
	complete(a);
	drop_curtain("has_work says no while request 16 is pending");
}

/* Only the first broken rule is reported, even if others follow. */
static void first_is_told(void)
{
	raise_curtain();
	add(0, 1);
	add(1, 2);
	stage.actor.lie = -2;
	next(NULL);
	drop_curtain(
		"next holds request 1 back for ever: nothing is in service, and it "
		"names no time");
}

static void init_may_fail(void)
{
	struct sched_limits limits = { .capacity_sectors = 1000,
				       .max_requests = PLACES };
	int errors[][2] = { { -EINVAL, -EINVAL },
			    { -ENOMEM, -ENOMEM },
			    { 1, -EINVAL },
			    { 5, -EINVAL } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		stage = (struct stage){ .actor.error = errors[i][0] };
		CHECK_EQ(contract_init(&stage.contract, &good, &stage.actor, &limits,
				       &stage.place[0].io, sizeof(stage.place[0]),
				       PLACES),
			 errors[i][1]);
		expect(errors[i][0] == 5 ? "init returned 5, which is neither 0 nor a "
					   "negative errno"
		       : errors[i][0] == 1
			       ? "init returned 1, which is neither 0 nor a "
				 "negative errno"
			       : "");
		/* contract_exit may be called, but there is nothing to free. */
		if (i % 2)
			contract_exit(&stage.contract);
		CHECK_EQ(stage.actor.exits, 0);
	}
	port_grant(0);
	CHECK_EQ(contract_init(&stage.contract, &good, &stage.actor, &limits,
			       &stage.place[0].io, sizeof(stage.place[0]), PLACES),
		 -ENOMEM);
	port_grant(U32_MAX);
	contract_exit(&stage.contract);
}

int main(void)
{
	init_may_fail();
	keeps_to_it();
	requests_are_given_once();
	fields_are_the_hosts();
	requests_are_the_hosts();
	who_is_joined_is_the_owners();
	reasons_are_known();
	waits_end();
	waits_are_not_put_off();
	waits_end_with_whom_they_were_for();
	work_is_told_of();
	first_is_told();
	return 0;
}
