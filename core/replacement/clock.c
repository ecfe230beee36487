// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Clock (Corbato, 1968): a hand goes round the slots. It clears the mark of a page that was used
 * since it last came by, and evicts the first page without a mark.
 */
#include "../replacement.h"

enum { ABSENT = 0, UNUSED, USED };

struct clock {
	u64 second_chances;

	u32 slots;
	u32 hand;
	u8 *is; /* of each slot: ABSENT, UNUSED, or USED since the hand came by */
};

static const struct sched_field clock_counters[] = {
	SCHED_COUNTER(clock, second_chances, "pages that the hand passed over once"),
};

static int clock_init(void *state, const struct replacement_limits *limits)
{
	struct clock *clock = state;

	clock->slots = limits->slots;
	clock->is = port_zalloc(limits->slots);
	return clock->is ? 0 : -ENOMEM;
}

static void clock_exit(void *state)
{
	struct clock *clock = state;

	port_free(clock->is);
}

static void clock_add(void *state, u32 slot, struct page_id page)
{
	struct clock *clock = state;

	clock->is[slot] = UNUSED;
}

static void clock_used(void *state, u32 slot)
{
	struct clock *clock = state;

	clock->is[slot] = USED;
}

static void clock_remove(void *state, u32 slot)
{
	struct clock *clock = state;

	clock->is[slot] = ABSENT;
}

/* At least one slot has a page, so the hand stops in its second round at the latest. */
static u32 clock_victim(void *state, struct page_id incoming)
{
	struct clock *clock = state;
	u32 slot;

	do {
		slot = clock->hand;
		clock->hand = slot + 1 < clock->slots ? slot + 1 : 0;
		if (clock->is[slot] == USED) {
			clock->is[slot] = UNUSED;
			clock->second_chances++;
			slot = NO_PAGE;
		}
	} while (slot == NO_PAGE || clock->is[slot] == ABSENT);
	clock->is[slot] = ABSENT;
	return slot;
}

static const struct replacer clock_replacer = {
	.name = "clock",
	.summary = "a hand that gives used pages a second chance",
	.state_size = sizeof(struct clock),
	.counters = clock_counters,
	.nr_counters = ARRAY_SIZE(clock_counters),
	.init = clock_init,
	.exit = clock_exit,
	.add = clock_add,
	.used = clock_used,
	.remove = clock_remove,
	.victim = clock_victim,
};
REGISTER_REPLACER(clock_replacer);
