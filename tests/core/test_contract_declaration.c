// SPDX-License-Identifier: MIT
/* A scheduler's declaration: the first rule that it breaks is reported. */
#include <string.h>

#include "../../core/contract.h"
#include "check.h"
#include "schedulers.h"

struct state {
	u64 wait_ns;
	u64 done;
	u64 others[2];
};

static const struct sched_field tunables[] = {
	SCHED_TUNABLE(state, wait_ns, 0, 0, U64_MAX, "how long it may wait"),
};

static const struct sched_field counters[] = {
	SCHED_COUNTER(state, done, "requests served"),
};

static struct scheduler good;

/* The operations are those of fcfs; no test calls them. */
static void make_good(void)
{
	good = *registry_find("fcfs");
	good.name = "good";
	good.state_size = sizeof(struct state);
	good.tunables = tunables;
	good.nr_tunables = ARRAY_SIZE(tunables);
	good.counters = counters;
	good.nr_counters = ARRAY_SIZE(counters);
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

static struct scheduler with_tunables(const struct sched_field *tunable, u32 n)
{
	struct scheduler s = good;

	s.tunables = tunable;
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
	declared(named("--unsafe"),
		 "its name, --unsafe, does not begin with a letter or a digit");
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
	struct sched_field field = tunables[0], many[SCHED_FIELDS_MAX + 1];
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
	field.offset = sizeof(struct state) - 4;
	declared(with_tunable(field), "its tunable a lies outside its state");
	field.offset = (size_t)-4;
	declared(with_tunable(field), "its tunable a lies outside its state");
	field.offset = 12;
	declared(with_tunable(field),
		 "its tunable a is not an aligned u64 of its state");
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
	field.offset = counters[0].offset;
	declared(with_tunable(field), "its field done lies where another one is");
	field.offset = 16;
	field.name = "done";
	declared(with_tunable(field), "two of its fields have the name done");

	/* Every pair of fields is compared. */
	many[0] = many[1] = tunables[0];
	many[1].name = field.name = "later";
	many[1].offset = 16;
	field.offset = 24;
	many[2] = field;
	declared(with_tunables(many, 3), "two of its fields have the name later");
	many[2].name = "last";
	many[2].offset = 16;
	declared(with_tunables(many, 3), "its field last lies where another one is");

	/* A message that does not fit is cut. */
	memset(long_name, 'X', sizeof(long_name) - 1);
	field.name = long_name;
	s = with_tunable(field);
	CHECK(!contract_check_declaration(&s, broken));
	CHECK_EQ(strlen(broken), CONTRACT_TEXT - 1);
}

int main(void)
{
	make_good();
	names();
	operations();
	fields();
	return 0;
}
