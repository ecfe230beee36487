// SPDX-License-Identifier: MIT
/* Prefetchers: what each of them prefetches, and the rules that the contract enforces. */
#include <string.h>

#include "check.h"
#include "policies.h"

#define STREAMS 4
#define LONG 100000 /* pages of a file whose end no read reaches */

static struct prefetch_contract contract;

static void start(const char *name, u32 most_pages)
{
	struct prefetch_limits limits = { STREAMS, 1000, most_pages };
	struct page_policies policies = policies_named(name, "lru");

	check_scheduler = name;
	CHECK_EQ(prefetch_contract_init(&contract, policies.prefetcher,
					policies.prefetcher_tunables, &limits),
		 0);
}

static void stop(void)
{
	CHECK(!prefetch_is_broken(&contract));
	prefetch_contract_exit(&contract);
	check_scheduler = NULL;
}

static struct page_range get(u32 stream, u32 file, u64 page, u64 file_pages,
			     enum page_found found)
{
	struct page_read read = { { page, file }, file_pages, stream, found };

	return prefetch_contract_read(&contract, &read);
}

#define EXPECT(range_, first_, pages_)                     \
	do {                                               \
		struct page_range got_range = range_;      \
                                                           \
		CHECK_EQ(got_range.pages, pages_);         \
		if (got_range.pages)                       \
			CHECK_EQ(got_range.first, first_); \
	} while (0)

static u64 counter(const char *name)
{
	const struct prefetcher *prefetcher = contract.prefetcher;
	u32 i = 0;

	while (strcmp(prefetcher->counters[i].name, name))
		CHECK(++i < prefetcher->nr_counters);
	return *sched_field_value(contract.state, &prefetcher->counters[i]);
}

static void none(void)
{
	start("none", 32);
	EXPECT(get(0, 0, 0, LONG, PAGE_ABSENT), 0, 0);
	EXPECT(get(0, 0, 1, LONG, PAGE_THERE), 0, 0);
	stop();
}

static void fixed(void)
{
	start("fixed", 8);
	EXPECT(get(0, 0, 5, LONG, PAGE_ABSENT), 6, 7);
	EXPECT(get(0, 0, 6, LONG, PAGE_THERE), 0, 0);
	EXPECT(get(0, 0, 7, LONG, PAGE_COMING), 0, 0);
	EXPECT(get(0, 0, 5, 9, PAGE_ABSENT), 6, 3);
	EXPECT(get(0, 0, 8, 9, PAGE_ABSENT), 0, 0);
	EXPECT(get(0, 0, 20, 9, PAGE_ABSENT), 0, 0);
	CHECK_EQ(counter("prefetched"), 10);
	stop();
	start("fixed", 1);
	EXPECT(get(0, 0, 5, LONG, PAGE_ABSENT), 0, 0);
	stop();
	start("fixed", 0);
	EXPECT(get(0, 0, 5, LONG, PAGE_ABSENT), 0, 0);
	stop();
}

/* test_page_cache.c tests the windows of doubling. */
static void doubling(void)
{
	start("doubling", 16);
	EXPECT(get(0, 0, 0, LONG, PAGE_ABSENT), 1, 3);
	EXPECT(get(0, 0, 1, LONG, PAGE_THERE), 4, 8);
	EXPECT(get(1, 0, 2, LONG, PAGE_THERE), 0, 0);
	EXPECT(get(0, 0, 4, LONG, PAGE_COMING), 12, 16);
	CHECK_EQ(counter("windows"), 3);
	stop();
}

/* Read pages in order, all of which are there; return the number of pages prefetched meanwhile. */
static u64 read_on(u32 stream, u64 first, u64 end)
{
	u64 pages = 0;

	for (; first < end; first++)
		pages += get(stream, 0, first, LONG, PAGE_THERE).pages;
	return pages;
}

static void amp_grows_with_each_set(void)
{
	start("amp", 32);
	EXPECT(get(0, 0, 0, LONG, PAGE_ABSENT), 1, 4);
	/* The last page of a set is read: p is 5, too small for sets ahead of time until then. */
	CHECK_EQ(read_on(0, 1, 5), 0);
	EXPECT(get(0, 0, 5, LONG, PAGE_ABSENT), 6, 5);
	CHECK_EQ(read_on(0, 6, 10), 0);
	/* g is 0, so the last page of a set triggers the next one; p is 6 then. */
	EXPECT(get(0, 0, 10, LONG, PAGE_THERE), 11, 6);
	CHECK_EQ(counter("grown"), 2);
	CHECK_EQ(counter("sets"), 3);
	CHECK_EQ(read_on(0, 11, 1000) / 900, 1);
	EXPECT(get(0, 0, 5000, LONG, PAGE_ABSENT), 0, 0);
	stop();
}

static void amp_fetches_earlier_after_a_wait(void)
{
	start("amp", 32);
	get(0, 0, 0, LONG, PAGE_ABSENT);
	read_on(0, 1, 5);
	get(0, 0, 5, LONG, PAGE_ABSENT);
	read_on(0, 6, 10);
	EXPECT(get(0, 0, 10, LONG, PAGE_THERE), 11, 6);
	EXPECT(get(0, 0, 11, LONG, PAGE_COMING), 0, 0);
	CHECK_EQ(counter("stalls"), 1);
	/* The second wait for the same set teaches nothing. */
	EXPECT(get(0, 0, 12, LONG, PAGE_COMING), 0, 0);
	CHECK_EQ(counter("stalls"), 1);
	CHECK_EQ(read_on(0, 13, 16), 0);
	EXPECT(get(0, 0, 16, LONG, PAGE_THERE), 17, 7);
	/* g is 1: one page before the end of the set. */
	CHECK_EQ(read_on(0, 17, 22), 0);
	EXPECT(get(0, 0, 22, LONG, PAGE_THERE), 24, 7);
	stop();
}

/* At p = 4, sets are fetched at misses only, so that g has no use. */
static void amp_learns_nothing_from_a_wait_after_a_miss(void)
{
	start("amp", 32);
	get(0, 0, 0, LONG, PAGE_ABSENT);
	EXPECT(get(0, 0, 1, LONG, PAGE_COMING), 0, 0);
	CHECK_EQ(counter("stalls"), 0);
	stop();
}

/* Let a stream wait for the first page of each set until g is as large as it can be. */
static void amp_keeps_g_below_p(void)
{
	u64 page = 6;
	u32 most = 6;
	u32 i;

	start("amp", most);
	get(0, 0, 0, LONG, PAGE_ABSENT);
	read_on(0, 1, 5);
	get(0, 0, 5, LONG, PAGE_ABSENT);
	for (i = 0; i < 200; i++, page++) {
		u32 stalls = counter("stalls");

		get(0, 0, page, LONG, i % 3 ? PAGE_THERE : PAGE_COMING);
		if (i > 150)
			CHECK_EQ(counter("stalls"), stalls);
	}
	CHECK_EQ(counter("stalls"), most - 1);
	CHECK_EQ(counter("grown"), most - 4);
	/* With p = 6 and g = 5, the first page of each set fetches the next one. */
	for (i = 0; i < 2 * most; i++, page++)
		get(0, 0, page, LONG, PAGE_THERE);
	CHECK(read_on(0, page, page + 2 * most) >= 2 * most);
	stop();
}

/* p is never less than one page, and g shrinks with it. */
static void amp_shrinks_to_one_page(void)
{
	struct page_range range = { 0 };
	u64 page = 0;
	u32 i;

	start("amp", 32);
	for (i = 0; i < 8; i++) {
		range = get(0, 0, page, LONG, PAGE_ABSENT);
		page++;
		prefetch_contract_wasted(
			&contract, 0,
			(struct page_id){ range.first + range.pages - 1, 0 });
	}
	EXPECT(range, 8, 1);
	CHECK_EQ(counter("shrunk"), 3);
	CHECK_EQ(counter("grown"), 0);
	stop();
}

static void amp_shrinks_when_pages_are_wasted(void)
{
	start("amp", 32);
	get(0, 0, 0, LONG, PAGE_ABSENT);
	read_on(0, 1, 5);
	get(0, 0, 5, LONG, PAGE_ABSENT);
	/* Only the last page of a set counts. */
	prefetch_contract_wasted(&contract, 0, (struct page_id){ 8, 0 });
	prefetch_contract_wasted(&contract, 0, (struct page_id){ 10, 1 });
	prefetch_contract_wasted(&contract, 1, (struct page_id){ 10, 0 });
	CHECK_EQ(counter("shrunk"), 0);
	prefetch_contract_wasted(&contract, 0, (struct page_id){ 10, 0 });
	CHECK_EQ(counter("shrunk"), 1);
	EXPECT(get(0, 0, 6, LONG, PAGE_ABSENT), 7, 4);
	stop();
}

/* Rules. */

static struct page_range answer;
static bool rewrites;

static struct page_range told_read(void *state, const struct page_read *read)
{
	if (rewrites)
		((struct page_read *)read)->file_pages++;
	return answer;
}

static int init_result;

static int told_init(void *state, const struct prefetch_limits *limits)
{
	return init_result;
}

static struct prefetcher told = {
	.name = "told",
	.summary = "does what it is told",
	.init = told_init,
	.read = told_read,
};

static int start_told(void)
{
	struct prefetch_limits limits = { STREAMS, 1000, 32 };

	prefetch_contract_exit(&contract);
	return prefetch_contract_init(&contract, &told, NULL, &limits);
}

static void says(const char *text, const char *words)
{
	if (strcmp(text, words))
		CHECK_FAIL("\"%s\", not \"%s\"", text, words);
}

/* Expect the answer to the read of page 3 of file 7, which has 20 pages, to break a rule. */
static void refused(u64 first, u64 pages, const char *words)
{
	CHECK_EQ(start_told(), 0);
	answer = (struct page_range){ first, pages };
	EXPECT(get(0, 7, 3, 20, PAGE_ABSENT), 0, 0);
	says(contract.broken, words);
	/* From now on, nothing is prefetched, and the first message stays. */
	answer = (struct page_range){ 4, 1 };
	EXPECT(get(0, 7, 4, 20, PAGE_ABSENT), 0, 0);
	prefetch_contract_wasted(&contract, 0, (struct page_id){ 0, 0 });
	says(contract.broken, words);
}

static void rules(void)
{
	refused(20, 1,
		"read(page 3 of file 7) prefetches page 20, but the file has 20 pages");
	refused(U64_MAX, 5,
		"read(page 3 of file 7) prefetches page 18446744073709551615, but the "
		"file has 20 pages");
	refused(4, 17,
		"read(page 3 of file 7) prefetches 17 pages from page 4 on, but the "
		"file "
		"has 20 pages");
	refused(4, U64_MAX,
		"read(page 3 of file 7) prefetches 18446744073709551615 pages from "
		"page 4 "
		"on, but the file has 20 pages");
	CHECK_EQ(start_told(), 0);
	answer = (struct page_range){ 4, 33 };
	EXPECT(get(0, 7, 3, LONG, PAGE_ABSENT), 0, 0);
	says(contract.broken, "read(page 3 of file 7) prefetches 33 pages, but the "
			      "longest prefetch has 32");
	rewrites = true;
	refused(4, 1,
		"read(page 3 of file 7) changed what it was given, which only the host "
		"may do");
	rewrites = false;
	CHECK_EQ(start_told(), 0);
	answer = (struct page_range){ 4, 16 };
	EXPECT(get(0, 7, 3, 20, PAGE_ABSENT), 4, 16);
	CHECK(!prefetch_is_broken(&contract));
}

/* Reads of one page may have the same range any number of times, and so may other streams. */
static void the_same_page_again_and_again(void)
{
	u64 i;

	CHECK_EQ(start_told(), 0);
	answer = (struct page_range){ 9, 1 };
	for (i = 0; i < 3 * PREFETCH_SAME_MAX; i++)
		EXPECT(get(1, 7, 3, LONG, PAGE_THERE), 9, 1);
	for (i = 0; i < PREFETCH_SAME_MAX; i++)
		EXPECT(get(0, 7, i, LONG, PAGE_THERE), 9, 1);
	EXPECT(get(1, 7, 3, LONG, PAGE_THERE), 9, 1);
	CHECK(!prefetch_is_broken(&contract));
	EXPECT(get(0, 7, i, LONG, PAGE_THERE), 0, 0);
	says(contract.broken,
	     "read(page 1000 of file 7) prefetches page 9 again, as the "
	     "last 1000 reads did");
}

static void inits(void)
{
	init_result = -ENODEV;
	CHECK_EQ(start_told(), -ENODEV);
	CHECK_EQ(contract.init_error, -ENODEV);
	init_result = 5;
	CHECK_EQ(start_told(), -EINVAL);
	says(contract.broken,
	     "init returned 5, which is neither 0 nor a negative errno");
	init_result = 0;
	prefetch_contract_exit(&contract);
}

static void declarations(void)
{
	struct prefetcher bad = told;
	char broken[CONTRACT_TEXT];
	u32 i;

	for (i = 0; i < prefetcher_count(); i++)
		CHECK_RULE(prefetch_check_declaration(prefetcher_get(i), broken),
			   broken);
	CHECK(prefetch_check_declaration(&told, broken));
	bad.read = NULL;
	CHECK(!prefetch_check_declaration(&bad, broken));
	says(broken, "read is missing");
	bad = told;
	bad.name = "Bad";
	CHECK(!prefetch_check_declaration(&bad, broken));
	says(broken, "its name, Bad, is not made of a-z, 0-9, - and _");
	bad = told;
	bad.nr_tunables = 1;
	CHECK(!prefetch_check_declaration(&bad, broken));
	says(broken, "tunables is missing");
}

static void no_memory(void)
{
	struct prefetch_limits limits = { STREAMS, 1000, 32 };
	u32 i, granted;
	int error;

	for (i = 0; i < prefetcher_count(); i++) {
		const char *name = prefetcher_get(i)->name;
		struct page_policies policies = policies_named(name, "lru");

		check_scheduler = name;
		error = -ENOMEM;
		for (granted = 0; error; granted++) {
			port_grant(granted);
			error = prefetch_contract_init(&contract, policies.prefetcher,
						       policies.prefetcher_tunables,
						       &limits);
			CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
			prefetch_contract_exit(&contract);
		}
		CHECK(granted >= 3);
	}
	check_scheduler = NULL;
}

int main(void)
{
	none();
	fixed();
	doubling();
	amp_grows_with_each_set();
	amp_fetches_earlier_after_a_wait();
	amp_learns_nothing_from_a_wait_after_a_miss();
	amp_keeps_g_below_p();
	amp_shrinks_to_one_page();
	amp_shrinks_when_pages_are_wasted();
	rules();
	the_same_page_again_and_again();
	inits();
	declarations();
	no_memory();
	return 0;
}
