// SPDX-License-Identifier: MIT
/*
 * Replacement policies: which pages each of them evicts, compared with a plain model of its rule,
 * and the rules that the contract enforces.
 */
#include <string.h>

#include "check.h"
#include "policies.h"

#define SLOTS_MAX 40
#define PAGES 100

static struct replacement_contract contract;
static u64 page_in[SLOTS_MAX]; /* page of each slot, or U64_MAX */
static u32 slots;

static void start(const char *name, u32 count)
{
	struct replacement_limits limits = { count };
	struct page_policies policies = policies_named("none", name);
	u32 i;

	check_scheduler = name;
	slots = count;
	for (i = 0; i < slots; i++)
		page_in[i] = U64_MAX;
	CHECK_EQ(replacement_contract_init(&contract, policies.replacer,
					   policies.replacer_tunables, &limits),
		 0);
}

static void stop(void)
{
	CHECK_RULE(!replacement_is_broken(&contract), contract.broken);
	replacement_contract_exit(&contract);
	check_scheduler = NULL;
}

static u32 slot_of(u64 page)
{
	u32 i = 0;

	while (i < slots && page_in[i] != page)
		i++;
	return i;
}

/* Read a page; return the page that was evicted for it, or U64_MAX. */
static u64 get(u64 page)
{
	struct page_id id = { page, 0 };
	u64 evicted = U64_MAX;
	u32 slot = slot_of(page);

	if (slot == slots) {
		slot = slot_of(U64_MAX);
		if (slot == slots) {
			slot = replacement_contract_victim(&contract, id);
			evicted = page_in[slot];
		}
		page_in[slot] = page;
		replacement_contract_coming(&contract, slot);
		replacement_contract_add(&contract, slot, id);
	}
	replacement_contract_used(&contract, slot);
	CHECK(!replacement_is_broken(&contract));
	return evicted;
}

static void drop(u64 page)
{
	replacement_contract_remove(&contract, slot_of(page));
	page_in[slot_of(page)] = U64_MAX;
}

static u64 counter(const char *name)
{
	const struct replacer *replacer = contract.replacer;
	u32 i = 0;

	while (strcmp(replacer->counters[i].name, name))
		CHECK(++i < replacer->nr_counters);
	return *sched_field_value(contract.state, &replacer->counters[i]);
}

static void lru(void)
{
	start("lru", 3);
	get(1);
	get(2);
	get(3);
	get(1);
	CHECK_EQ(get(4), 2);
	drop(3);
	CHECK_EQ(get(5), U64_MAX);
	CHECK_EQ(get(6), 1);
	CHECK_EQ(get(7), 4);
	stop();
}

/* The longest-unused page goes, by a model that notes the time of each use. */
static void lru_as_its_model(struct draw *draw)
{
	u64 used[PAGES] = { 0 };
	u64 now, i;

	start("lru", 1 + draw_below(draw, SLOTS_MAX));
	for (now = 1; now < 2000; now++) {
		u64 page = draw_below(draw, PAGES);
		u64 oldest = U64_MAX;

		if (slot_of(page) == slots && slot_of(U64_MAX) == slots) {
			for (i = 0; i < slots; i++) {
				if (oldest == U64_MAX ||
				    used[page_in[i]] < used[oldest])
					oldest = page_in[i];
			}
		}
		CHECK_EQ(get(page), oldest);
		used[page] = now;
	}
	stop();
}

static void clock_hand(void)
{
	start("clock", 3);
	get(1);
	get(2);
	get(3);
	/* All are marked: the hand clears every mark and evicts the first page. */
	CHECK_EQ(get(4), 1);
	CHECK_EQ(counter("second_chances"), 3);
	/* The hand is at page 2; it is used, so page 3 goes. */
	get(2);
	CHECK_EQ(get(5), 3);
	CHECK_EQ(counter("second_chances"), 4);
	drop(2);
	CHECK_EQ(get(6), U64_MAX);
	stop();
	start("clock", 1);
	get(1);
	CHECK_EQ(get(2), 1);
	CHECK_EQ(get(3), 2);
	stop();
}

static void two_q_queue_and_memory(void)
{
	u64 page;

	start("2q", 8); /* a queue of 2 pages; 4 pages are remembered */
	for (page = 1; page <= 8; page++)
		get(page);
	/* The queue is in order of entry, however often its pages are used. */
	get(1);
	get(1);
	CHECK_EQ(get(9), 1);
	CHECK_EQ(get(10), 2);
	CHECK_EQ(counter("promoted"), 0);
	/* Page 1 is remembered, so it enters the main list, and page 3 leaves the queue. */
	CHECK_EQ(get(1), 3);
	CHECK_EQ(counter("promoted"), 1);
	for (page = 20; page < 100; page++)
		CHECK(get(page) != 1);
	/* Page 2 is forgotten by now. */
	get(2);
	CHECK_EQ(counter("promoted"), 1);
	drop(1);
	drop(2);
	stop();
}

static void two_q_main_list(void)
{
	u64 page, i;

	start("2q", 8);
	for (i = 0; i < 2; i++) {
		for (page = 0; page < 10; page++)
			get(page);
	}
	/* Some of the pages were promoted; the main list evicts what was not used for longest. */
	CHECK(counter("promoted") > 2);
	stop();
	start("2q", 1);
	get(1);
	CHECK_EQ(get(2), 1);
	CHECK_EQ(get(1), 2);
	CHECK_EQ(get(2), 1);
	stop();
}

/* Read ten hot pages in turn with as many others, and return how many of the hot ones missed. */
static u32 misses_after_scans(const char *name, u64 scan_pages)
{
	u32 misses = 0;
	u64 other = 10;
	u64 i, k;

	start(name, 20);
	for (i = 0; i < 100; i++) {
		for (k = 0; k < 10; k++) {
			misses += i >= 10 && slot_of(k) == slots;
			get(k);
		}
		for (k = 0; k < (i < 10 ? 12 : scan_pages); k++)
			get(other++);
	}
	stop();
	return misses;
}

/* Pages that are read once, however many, do not evict what 2Q keeps in its main list. */
static void scans(void)
{
	CHECK_EQ(misses_after_scans("lru", 100), 900);
	CHECK_EQ(misses_after_scans("clock", 100), 900);
	CHECK_EQ(misses_after_scans("2q", 100), 0);
	/* Only the last scan of the first ten, of 12 pages, evicts hot pages. */
	CHECK_EQ(misses_after_scans("lru", 10), 10);
}

/* Every policy keeps the rules when pages come late and are dropped; the contract checks. */
static void any_policy(struct draw *draw)
{
	bool coming[SLOTS_MAX] = { false };
	u32 i, slot;

	start(replacer_get(draw_below(draw, replacer_count()))->name,
	      1 + draw_below(draw, SLOTS_MAX));
	for (i = 0; i < 4000; i++) {
		u64 page = draw_below(draw, PAGES);

		slot = slot_of(page);
		if (slot < slots && coming[slot]) {
			coming[slot] = false;
			replacement_contract_add(&contract, slot,
						 (struct page_id){ page, 0 });
		} else if (slot < slots && !draw_below(draw, 10)) {
			drop(page);
		} else if (slot < slots) {
			replacement_contract_used(&contract, slot);
		} else {
			slot = slot_of(U64_MAX);
			if (slot == slots && !contract.there)
				continue;
			if (slot == slots)
				slot = replacement_contract_victim(
					&contract, (struct page_id){ page, 0 });
			page_in[slot] = page;
			coming[slot] = true;
			replacement_contract_coming(&contract, slot);
		}
		CHECK_RULE(!replacement_is_broken(&contract), contract.broken);
	}
	stop();
}

/* Rules. */

static u32 answer;

static void told_add(void *state, u32 slot, struct page_id page)
{
}

static void told_slot(void *state, u32 slot)
{
}

static u32 told_victim(void *state, struct page_id incoming)
{
	return answer;
}

static int init_result;

static int told_init(void *state, const struct replacement_limits *limits)
{
	return init_result;
}

static struct replacer told = {
	.name = "told",
	.summary = "does what it is told",
	.init = told_init,
	.add = told_add,
	.used = told_slot,
	.remove = told_slot,
	.victim = told_victim,
};

static void says(const char *text, const char *words)
{
	if (strcmp(text, words))
		CHECK_FAIL("\"%s\", not \"%s\"", text, words);
}

static int start_told(void)
{
	struct replacement_limits limits = { 4 };

	replacement_contract_exit(&contract);
	return replacement_contract_init(&contract, &told, NULL, &limits);
}

/* Slot 0 is being fetched, slots 1 and 2 have pages, and slot 3 is empty. */
static void refused(u32 slot, const char *words)
{
	struct page_id page = { 0 };

	CHECK_EQ(start_told(), 0);
	replacement_contract_coming(&contract, 0);
	replacement_contract_coming(&contract, 1);
	replacement_contract_add(&contract, 1, page);
	replacement_contract_coming(&contract, 2);
	replacement_contract_add(&contract, 2, page);
	answer = slot;
	CHECK_EQ(replacement_contract_victim(&contract, page), 1);
	says(contract.broken, words);
	/* The host may go on without the policy. */
	answer = 0;
	replacement_contract_used(&contract, 2);
	CHECK_EQ(replacement_contract_victim(&contract, page), 2);
	replacement_contract_coming(&contract, 3);
	replacement_contract_add(&contract, 3, page);
	replacement_contract_remove(&contract, 3);
	CHECK_EQ(contract.there, 0);
	says(contract.broken, words);
}

static void rules(void)
{
	refused(0, "victim returned slot 0, whose page is being fetched");
	refused(3, "victim returned slot 3, which is empty");
	refused(4, "victim returned slot 4, but the cache has 4 slots");
	refused(NO_PAGE, "victim returned slot 4294967295, but the cache has 4 slots");
	init_result = 1;
	CHECK_EQ(start_told(), -EINVAL);
	says(contract.broken,
	     "init returned 1, which is neither 0 nor a negative errno");
	init_result = -EBUSY;
	CHECK_EQ(start_told(), -EBUSY);
	CHECK_EQ(contract.init_error, -EBUSY);
	init_result = 0;
	replacement_contract_exit(&contract);
}

static void without(struct replacer bad, const char *words)
{
	char broken[CONTRACT_TEXT];

	CHECK(!replacement_check_declaration(&bad, broken));
	says(broken, words);
}

static void declarations(void)
{
	struct replacer bad;
	char broken[CONTRACT_TEXT];
	u32 i;

	for (i = 0; i < replacer_count(); i++)
		CHECK_RULE(replacement_check_declaration(replacer_get(i), broken),
			   broken);
	bad = told;
	bad.add = NULL;
	without(bad, "add is missing");
	bad = told;
	bad.used = NULL;
	without(bad, "used is missing");
	bad = told;
	bad.remove = NULL;
	without(bad, "remove is missing");
	bad = told;
	bad.victim = NULL;
	without(bad, "victim is missing");
	bad = told;
	bad.summary = "";
	without(bad, "it has no summary");
	bad = told;
	bad.nr_counters = 1;
	without(bad, "counters is missing");
}

static void no_memory(void)
{
	struct replacement_limits limits = { 8 };
	u32 i, granted;
	int error;

	for (i = 0; i < replacer_count(); i++) {
		const char *name = replacer_get(i)->name;
		struct page_policies policies = policies_named("none", name);

		check_scheduler = name;
		error = -ENOMEM;
		for (granted = 0; error; granted++) {
			port_grant(granted);
			error = replacement_contract_init(&contract, policies.replacer,
							  policies.replacer_tunables,
							  &limits);
			CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
			replacement_contract_exit(&contract);
		}
		CHECK(granted >= 4);
	}
	check_scheduler = NULL;
}

int main(void)
{
	lru();
	check_seeds(50, lru_as_its_model);
	clock_hand();
	two_q_queue_and_memory();
	two_q_main_list();
	scans();
	check_seeds(200, any_policy);
	rules();
	declarations();
	no_memory();
	return 0;
}
