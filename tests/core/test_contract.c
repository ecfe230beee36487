// SPDX-License-Identifier: MIT
/*
 * A scheduler that breaks a rule is told which one and for which request, and the host
 * goes on without it: whatever else it was given is served once, in order of arrival.
 */
#include <string.h>

#include "../../core/contract.h"
#include "check.h"

#define PLACES 8
#define FIVE 5000000000ull

/* The host's places are larger than a request, as they are in the simulator. */
struct place {
	struct io_request io;
	u64 of_the_host;
};

/* A scheduler that answers what the test wants; its state is this. */
struct actor {
	u64 wait_ns;
	u64 done;
	struct io_request *answer;
	u64 wake_ns;
	u32 pending;
	s64 lie; /* by so many it miscounts */
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

static void complete(const struct io_request *rq)
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

/* What is left comes in order of arrival, and nobody asks the actor. */
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
	/* While something is in service nobody has to name a time. */
	CHECK(!next(NULL));
	complete(b);
	contract_remove(&stage.contract, a);
	a = add(0, 3);
	stage.actor.wake_ns = FIVE + 1;
	CHECK(!next(NULL));
	CHECK_EQ(stage.wake_ns, FIVE + 1);
	CHECK(next(a) == a);
	/* Its place is in use, but by nobody of whom it was told. */
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
	b->owner = 5;
	CHECK(next(a) == a);
	CHECK(!more(a, b));
	CHECK(!more(a, b)); /* nobody is asked any more */
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
	CHECK(more(a, b) == b); /* it is in service: the host has to know */
	drop_curtain("has_work says no while request 19 is pending");
}

static void reasons_are_known(void)
{
	struct io_request *a;

	raise_curtain();
	a = add(0, 1);
	a->reason = PICK_REASONS;
	CHECK(next(a) == a);
	drop_curtain("next gave a reason that there is not for request 1");
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

/* Ten seconds and twice its own time, counted from the first of several waits. */
static void waits_are_not_put_off(void)
{
	u64 most = 2 * FIVE;
	u32 i;

	for (i = 0; i < 2; i++, most += 2 * FIVE) {
		raise_curtain();
		stage.actor.wait_ns = i * FIVE;
		contract_tuned(&stage.contract);
		/* Who is set to less may still be waiting. */
		stage.actor.wait_ns = 0;
		contract_tuned(&stage.contract);
		/* Waiting for nobody is no wait, and what is given ends one. */
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

static void work_is_told_of(void)
{
	struct io_request *a;

	raise_curtain();
	add(1, 18);
	a = add(0, 17);
	stage.actor.lie = -2;
	CHECK(contract_has_work(&stage.contract));
	drop_curtain("has_work says no while request 17 is pending");

	/* Perhaps it would give one again: so it is asked. */
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

/* The first rule is the one that is told, also if others follow. */
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
		/* It may be given back, but nothing is left to give back. */
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

static void declared(struct scheduler s, const char *words)
{
	char broken[CONTRACT_TEXT] = "something";

	CHECK_EQ(contract_check_declaration(&s, broken), !*words);
	if (strcmp(broken, words)) {
		fprintf(stderr, "\"%s\", not \"%s\"\n", broken, words);
		abort();
	}
}

static struct scheduler named(const char *name)
{
	struct scheduler s = good;

	s.name = name;
	return s;
}

static struct scheduler with_tunables(const struct sched_field *tunables, u32 n)
{
	struct scheduler s = good;

	s.tunables = tunables;
	s.nr_tunables = n;
	return s;
}

static struct scheduler with_tunable(struct sched_field tunable)
{
	static struct sched_field kept;

	kept = tunable;
	return with_tunables(&kept, 1);
}

static void names(void)
{
	declared(good, "");
	declared(named("a-b_c0"), "");
	declared(named("fifteen-letters"), "");
	declared(named(NULL), "it has no name");
	declared(named(""), "it has no name");
	declared(named("sixteen-letters-"), "its name has more than 15 characters");
	declared(named("Mine"), "its name, Mine, is not made of a-z, 0-9, - and _");
	declared(named("a\nb"), "its name, a?b, is not made of a-z, 0-9, - and _");
	declared(named("a ~\x1f\x7f"),
		 "its name, a ~??, is not made of a-z, 0-9, - and _");
	declared(named("none"), "its name, none, begins with none, which stands for no "
				"scheduler");
	declared(named("nonesuch"),
		 "its name, nonesuch, begins with none, which stands "
		 "for no scheduler");
	declared(named("non"), "");
}

static void operations(void)
{
	struct scheduler s = good;

	s.summary = NULL;
	declared(s, "it has no summary");
	s = good;
	s.init = NULL;
	s.exit = NULL;
	s.completed = NULL;
	declared(s, "");
	s = good;
	s.add = NULL;
	declared(s, "add is missing");
	s = good;
	s.remove = NULL;
	declared(s, "remove is missing");
	s = good;
	s.next = NULL;
	declared(s, "next is missing");
	s = good;
	s.has_work = NULL;
	declared(s, "has_work is missing");
}

static void fields(void)
{
	struct sched_field field = actor_tunables[0], many[SCHED_FIELDS_MAX + 1];
	static char long_name[1000];
	char broken[CONTRACT_TEXT];
	struct scheduler s = good;

	declared(with_tunables(NULL, 0), "");
	declared(with_tunables(NULL, 1), "tunables is missing");
	s.counters = NULL;
	declared(s, "counters is missing");
	declared(with_tunables(many, SCHED_FIELDS_MAX + 1),
		 "it has more than 16 tunables or counters");

	field.name = NULL;
	declared(with_tunable(field), "its tunable without a name needs one");
	field.name = "a/b";
	declared(with_tunable(field),
		 "its tunable a/b has a name that is not made of a-z, 0-9 and _");
	field.name = "a";
	field.help = "";
	declared(with_tunable(field), "its tunable a has no help");
	field.help = "helps";
	field.offset = sizeof(struct actor) - 4;
	declared(with_tunable(field), "its tunable a lies outside its state");
	field.offset = (size_t)-4;
	declared(with_tunable(field), "its tunable a lies outside its state");
	field.offset = 12;
	declared(with_tunable(field), "its tunable a is no u64 of its state");
	field.offset = 16;
	declared(with_tunable(field), "");
	field.min = 1;
	declared(with_tunable(field),
		 "its tunable a has an initial value outside its range");
	field.initial = 3;
	field.max = 2;
	declared(with_tunable(field),
		 "its tunable a has an initial value outside its range");
	field.max = 3;
	declared(with_tunable(field), "");
	field.offset = actor_counters[0].offset;
	declared(with_tunable(field), "its field done lies where another one is");
	field.offset = 16;
	field.name = "done";
	declared(with_tunable(field), "two of its fields have the name done");

	/* Any two are held against each other. */
	many[0] = many[1] = actor_tunables[0];
	many[1].name = field.name = "later";
	many[1].offset = 16;
	field.offset = 24;
	many[2] = field;
	declared(with_tunables(many, 3), "two of its fields have the name later");
	many[2].name = "last";
	many[2].offset = 16;
	declared(with_tunables(many, 3), "its field last lies where another one is");

	/* Words that do not fit are cut. */
	memset(long_name, 'X', sizeof(long_name) - 1);
	field.name = long_name;
	s = with_tunable(field);
	CHECK(!contract_check_declaration(&s, broken));
	CHECK_EQ(strlen(broken), CONTRACT_TEXT - 1);
}

int main(void)
{
	names();
	operations();
	fields();
	init_may_fail();
	keeps_to_it();
	requests_are_given_once();
	requests_are_the_hosts();
	who_is_joined_is_the_owners();
	reasons_are_known();
	waits_end();
	waits_are_not_put_off();
	work_is_told_of();
	first_is_told();
	return 0;
}
