// SPDX-License-Identifier: MIT
/*
 * The page cache with a simulated disk: what it fetches, which processes it wakes, and what it
 * evicts.
 */
#include "check.h"
#include "policies.h"

#define FETCHES 4096
#define PROCESSES 8
#define LONG 100000 /* pages of a file whose end no read reaches */

static struct fetch {
	u32 file;
	u64 first;
	u32 count;
	u32 process;
} fetches[FETCHES];
static u32 nr_fetches, nr_filled;
static u32 woken[PROCESSES];
static struct page_cache cache;

static void note_fetch(void *context, u32 file, u64 first, u32 count, u32 process)
{
	CHECK(context == &cache);
	CHECK(count && nr_fetches < FETCHES);
	fetches[nr_fetches++] = (struct fetch){ file, first, count, process };
}

static void note_wake(void *context, u32 process)
{
	CHECK(context == &cache);
	woken[process]++;
}

static struct page_policies policies;

static void cache_init(u32 pages, u32 read_ahead_pages)
{
	cache = (struct page_cache){
		.pages = pages,
		.prefetch_pages = read_ahead_pages,
		.policies = policies,
		.fetch = note_fetch,
		.wake = note_wake,
		.context = &cache,
	};
	nr_fetches = 0;
	nr_filled = 0;
	memset(woken, 0, sizeof(woken));
	CHECK_EQ(page_cache_init(&cache, PROCESSES), 0);
}

/* Complete all outstanding fetches. */
static void fill_all(void)
{
	for (; nr_filled < nr_fetches; nr_filled++)
		page_cache_filled(&cache, fetches[nr_filled].file,
				  fetches[nr_filled].first, fetches[nr_filled].count);
}

/*
 * Let a process read a page, with the fetch if one is needed; return whether the page was cached.
 */
static bool get(u32 process, u32 file, u64 page, u64 file_pages)
{
	bool hit = page_cache_read(&cache, process, file, page, file_pages);
	u32 before = woken[process];

	fill_all();
	CHECK_EQ(woken[process] - before, !hit);
	if (!hit)
		CHECK(page_cache_read(&cache, process, file, page, file_pages));
	fill_all();
	return hit;
}

static void expect_fetch(u32 i, u64 first, u32 count)
{
	CHECK(i < nr_fetches);
	CHECK_EQ(fetches[i].first, first);
	CHECK_EQ(fetches[i].count, count);
}

/* Each window is fetched when the reader enters the previous window. */
static void windows_double(void)
{
	static const u64 asked_at[] = { 0, 1, 4, 12, 28, 60 };
	static const u64 begins[] = { 0, 4, 12, 28, 60, 92 };
	static const u32 pages[] = { 4, 8, 16, 32, 32, 32 };
	u32 i = 0;
	u64 page;

	cache_init(1000, 32);
	for (page = 0; page <= 60; page++) {
		CHECK_EQ(get(1, 5, page, LONG), page != 0);
		if (i < ARRAY_SIZE(asked_at) && page == asked_at[i]) {
			expect_fetch(i, begins[i], pages[i]);
			i++;
		}
		CHECK_EQ(nr_fetches, i);
	}
	CHECK_EQ(i, ARRAY_SIZE(asked_at));
	CHECK_EQ(fetches[2].process, 1);
	CHECK_EQ(fetches[2].file, 5);
	page_cache_exit(&cache);
}

static void windows_stop_at_the_limit(void)
{
	u64 page;

	cache_init(1000, 5);
	for (page = 0; page < 10; page++)
		get(0, 0, page, LONG);
	expect_fetch(0, 0, 4);
	expect_fetch(1, 4, 5);
	expect_fetch(2, 9, 5);
	page_cache_exit(&cache);
	cache_init(1000, 3);
	for (page = 0; page < 4; page++)
		get(0, 0, page, LONG);
	expect_fetch(0, 0, 3);
	expect_fetch(1, 3, 3);
	page_cache_exit(&cache);
}

static void nothing_is_read_ahead_past_the_end(void)
{
	u64 page;

	cache_init(1000, 32);
	for (page = 0; page < 6; page++)
		get(0, 0, page, 6);
	expect_fetch(0, 0, 4);
	expect_fetch(1, 4, 2);
	CHECK_EQ(nr_fetches, 2);
	get(0, 1, 0, 1);
	expect_fetch(2, 0, 1);
	/* A read past the file's end fetches only its page. */
	get(0, 1, 1, 1);
	expect_fetch(3, 1, 1);
	CHECK_EQ(nr_fetches, 4);
	page_cache_exit(&cache);
}

static void random_access_reads_page_by_page(void)
{
	cache_init(1000, 32);
	get(0, 0, 50, LONG);
	get(0, 0, 20, LONG);
	get(0, 0, 22, LONG);
	expect_fetch(0, 50, 1);
	expect_fetch(1, 20, 1);
	expect_fetch(2, 22, 1);
	/* A second sequential read begins a window. */
	get(0, 0, 23, LONG);
	expect_fetch(3, 23, 4);
	/* A read in another file does not. */
	get(0, 1, 24, LONG);
	expect_fetch(4, 24, 1);
	/* A read by another process does not, either. */
	get(1, 1, 25, LONG);
	expect_fetch(5, 25, 1);
	page_cache_exit(&cache);
}

static void pages_that_are_there_are_left_out(void)
{
	cache_init(1000, 32);
	get(1, 0, 2, LONG);
	expect_fetch(0, 2, 1);
	get(0, 0, 0, LONG);
	expect_fetch(1, 0, 2);
	expect_fetch(2, 3, 1);
	CHECK_EQ(nr_fetches, 3);
	page_cache_exit(&cache);
}

static void the_least_recently_used_page_goes(void)
{
	cache_init(3, 0);
	get(0, 0, 10, LONG);
	get(0, 0, 20, LONG);
	get(0, 0, 30, LONG);
	CHECK(get(1, 0, 10, LONG));
	CHECK(!get(0, 0, 40, LONG)); /* instead of 20 */
	CHECK(get(0, 0, 10, LONG));
	CHECK(get(0, 0, 30, LONG));
	CHECK(!get(0, 0, 20, LONG));
	CHECK(!get(0, 0, 40, LONG));
	page_cache_exit(&cache);
}

/* Page 1 would be evicted first, and reading it triggers the next window. */
static void a_page_stays_while_it_is_read(void)
{
	cache_init(4, 32);
	get(0, 0, 0, LONG);
	CHECK(get(1, 0, 0, LONG));
	CHECK(get(1, 0, 2, LONG));
	CHECK(get(1, 0, 3, LONG));
	CHECK(page_cache_read(&cache, 0, 0, 1, LONG));
	expect_fetch(1, 4, 3);
	fill_all();
	CHECK(page_cache_read(&cache, 0, 0, 1, LONG));
	page_cache_exit(&cache);
}

static void no_memory(void)
{
	int error = -ENOMEM;
	u32 granted;

	for (granted = 0; error; granted++) {
		cache = (struct page_cache){ .pages = 4, .policies = policies };
		port_grant(granted);
		error = page_cache_init(&cache, 2);
		CHECK_EQ(error, port_refused() ? -ENOMEM : 0);
		page_cache_exit(&cache);
	}
	CHECK_EQ(granted, 12);
}

/*
 * A cache of any size, processes that read at random, and a disk that answers in any order.
 * Nothing is fetched twice or beyond the cache's size.  No process receives a page that was not
 * fetched, and none waits forever.  The policies keep the rules of their interfaces.
 */
#define FILES 3
#define FILE_PAGES 20

enum page_state { ABSENT, COMING, THERE };

static enum page_state state[FILES][FILE_PAGES];
static u32 nr_coming;

static void note_coming(void *context, u32 file, u64 first, u32 count, u32 process)
{
	u64 page;

	note_fetch(context, file, first, count, process);
	for (page = first; page < first + count; page++) {
		CHECK(page < FILE_PAGES);
		CHECK(state[file][page] != COMING);
		state[file][page] = COMING;
	}
	nr_coming += count;
	CHECK(nr_coming <= cache.pages);
}

/* Complete one of the outstanding fetches, chosen at random. */
static void fill_one(struct draw *draw)
{
	u32 i = nr_filled + draw_below(draw, nr_fetches - nr_filled);
	struct fetch fetch = fetches[i];
	u64 page;

	fetches[i] = fetches[nr_filled++];
	for (page = fetch.first; page < fetch.first + fetch.count; page++)
		state[fetch.file][page] = THERE;
	nr_coming -= fetch.count;
	page_cache_filled(&cache, fetch.file, fetch.first, fetch.count);
}

static void step(struct draw *draw, u32 process, u32 *file, u64 *page)
{
	if (woken[process]) {
		woken[process] = 0;
	} else if (draw_below(draw, 3)) {
		*page = (*page + 1) % FILE_PAGES;
	} else {
		*file = draw_below(draw, FILES);
		*page = draw_below(draw, FILE_PAGES);
	}
}

static void random_case(struct draw *draw)
{
	u32 file[PROCESSES] = { 0 };
	u64 page[PROCESSES] = { 0 };
	bool waits[PROCESSES] = { false };
	u32 had = 0;
	u32 i;

	cache_init(1 + draw_below(draw, draw_below(draw, 2) ? 6 : 80),
		   draw_below(draw, 20));
	cache.fetch = note_coming;
	memset(state, 0, sizeof(state));
	nr_coming = 0;
	for (i = 0; i < 3000 && nr_fetches < FETCHES - 100; i++) {
		u32 process = draw_below(draw, PROCESSES);

		if (waits[process] && !woken[process]) {
			CHECK(nr_filled < nr_fetches);
			fill_one(draw);
			continue;
		}
		step(draw, process, &file[process], &page[process]);
		waits[process] = !page_cache_read(&cache, process, file[process],
						  page[process], FILE_PAGES);
		CHECK(waits[process] || state[file[process]][page[process]] == THERE);
		CHECK_RULE(!prefetch_is_broken(&cache.prefetch), cache.prefetch.broken);
		CHECK_RULE(!replacement_is_broken(&cache.replacement),
			   cache.replacement.broken);
		had += !waits[process];
	}
	CHECK(had > 50); /* true even if all processes share a single page */
	page_cache_exit(&cache);
}

/* A prefetcher that answers what a test tells it, and notes which pages were wasted. */
static struct page_range answer;
static u32 found, nr_asked, nr_wasted, wasted_for;
static u64 wasted_page;

static struct page_range told_read(void *state, const struct page_read *read)
{
	found = read->found;
	nr_asked++;
	return answer;
}

static void told_wasted(void *state, u32 stream, struct page_id page)
{
	nr_wasted++;
	wasted_for = stream;
	wasted_page = page.number;
}

static const struct prefetcher told = {
	.name = "told",
	.summary = "does what it is told",
	.read = told_read,
	.wasted = told_wasted,
};

static void tell(u64 first, u64 pages)
{
	answer = (struct page_range){ first, pages };
}

static void a_range_is_fetched_with_its_page_if_adjacent(void)
{
	policies.prefetcher = &told;
	cache_init(100, 32);
	tell(11, 3);
	get(0, 0, 10, LONG);
	expect_fetch(0, 10, 4);
	tell(20, 3);
	get(0, 0, 21, LONG);
	expect_fetch(1, 20, 3);
	tell(50, 2);
	get(0, 0, 40, LONG);
	expect_fetch(2, 40, 1);
	expect_fetch(3, 50, 2);
	tell(30, 2);
	get(0, 0, 35, LONG);
	expect_fetch(4, 35, 1);
	expect_fetch(5, 30, 2);
	/* Pages that are there are left out, also at a hit. */
	tell(9, 3);
	CHECK(get(0, 0, 12, LONG));
	expect_fetch(6, 9, 1);
	CHECK_EQ(nr_fetches, 7);
	page_cache_exit(&cache);
}

static void a_prefetcher_is_asked_once_for_a_page(void)
{
	u32 i;

	cache_init(100, 32);
	tell(0, 0);
	nr_asked = 0;
	for (i = 0; i < 10; i++)
		get(0, 0, 7, LONG);
	CHECK_EQ(nr_asked, 1);
	CHECK_EQ(found, PAGE_ABSENT);
	get(1, 0, 7, LONG);
	CHECK_EQ(nr_asked, 2);
	CHECK_EQ(found, PAGE_THERE);
	CHECK(!page_cache_read(&cache, 0, 0, 8, LONG));
	CHECK(!page_cache_read(&cache, 1, 0, 8, LONG));
	CHECK_EQ(nr_asked, 4);
	CHECK_EQ(found, PAGE_COMING);
	fill_all();
	get(0, 1, 7, LONG);
	CHECK_EQ(nr_asked, 5);
	page_cache_exit(&cache);
}

static void wasted_pages_are_reported(void)
{
	cache_init(4, 32);
	nr_wasted = 0;
	tell(11, 3);
	get(2, 0, 10, LONG);
	tell(0, 0);
	get(0, 0, 11, LONG);
	get(0, 0, 20, LONG); /* instead of 12, which nobody has read */
	CHECK_EQ(nr_wasted, 1);
	CHECK_EQ(wasted_for, 2);
	CHECK_EQ(wasted_page, 12);
	get(0, 0, 21, LONG);
	CHECK_EQ(nr_wasted, 2);
	CHECK_EQ(wasted_page, 13);
	get(0, 0, 22, LONG); /* instead of 10 or 11, which were read */
	get(0, 0, 23, LONG);
	CHECK_EQ(nr_wasted, 2);
	page_cache_exit(&cache);
}

static u32 wrong_victim(void *state, struct page_id incoming)
{
	return 1000;
}

/* After a rule was broken, the cache works without the policy. */
static void a_wrong_policy_is_left_out(void)
{
	struct replacer wrong = *replacer_find("lru");

	cache_init(4, 32);
	tell(5, 33);
	get(0, 0, 4, LONG);
	CHECK(page_cache_is_broken(&cache));
	expect_fetch(0, 4, 1);
	get(0, 0, 6, LONG);
	expect_fetch(1, 6, 1);
	page_cache_exit(&cache);

	tell(0, 0);
	wrong.victim = wrong_victim;
	policies.replacer = &wrong;
	cache_init(2, 32);
	get(0, 0, 1, LONG);
	get(0, 0, 2, LONG);
	CHECK(!page_cache_is_broken(&cache));
	get(0, 0, 3, LONG);
	CHECK(page_cache_is_broken(&cache));
	CHECK(get(0, 0, 2, LONG));
	CHECK(!get(0, 0, 1, LONG));
	page_cache_exit(&cache);
}

/* A policy may evict the page that is read, whose content the process has; the read is a hit. */
static u32 newest_victim(void *state, struct page_id incoming)
{
	u32 i = cache.pages;

	while (cache.replacement.is[--i] != SLOT_THERE)
		;
	return i;
}

static void a_policy_may_evict_what_was_just_read(void)
{
	struct replacer newest = *replacer_find("clock");

	newest.victim = newest_victim;
	policies.replacer = &newest;
	cache_init(2, 32);
	tell(0, 0);
	get(0, 0, 1, LONG);
	get(0, 0, 2, LONG);
	tell(9, 1);
	CHECK(page_cache_read(&cache, 1, 0, 2, LONG));
	fill_all();
	tell(0, 0);
	CHECK(get(0, 0, 9, LONG));
	CHECK(!get(0, 0, 2, LONG));
	page_cache_exit(&cache);
}

/* Any two policies keep the rules of their interfaces, and the cache works with them. */
static void random_policies(struct draw *draw)
{
	policies = policies_any(draw_u64(draw) >> 1);
	check_scheduler = policies.prefetcher->name;
	check_rule = policies.replacer->name;
	random_case(draw);
	check_scheduler = NULL;
	check_rule = NULL;
}

int main(void)
{
	policies = policies_named("doubling", "lru");
	windows_double();
	windows_stop_at_the_limit();
	nothing_is_read_ahead_past_the_end();
	random_access_reads_page_by_page();
	pages_that_are_there_are_left_out();
	the_least_recently_used_page_goes();
	a_page_stays_while_it_is_read();
	no_memory();
	check_seeds(200, random_case);
	a_range_is_fetched_with_its_page_if_adjacent();
	a_prefetcher_is_asked_once_for_a_page();
	wasted_pages_are_reported();
	a_wrong_policy_is_left_out();
	policies = policies_named("doubling", "lru");
	policies.prefetcher = &told;
	a_policy_may_evict_what_was_just_read();
	check_seeds(600, random_policies);
	return 0;
}
