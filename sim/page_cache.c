// SPDX-License-Identifier: MIT
#include "page_cache.h"

/**
 * struct page_slot - what the cache knows of the page in a slot
 * @waiter: first process that waits for the page
 * @prefetched_for: process for which the page was prefetched, or NO_PROCESS after the first read
 */
struct page_slot {
	u32 waiter;
	u32 prefetched_for;
};

int page_cache_init(struct page_cache *cache, u32 processes)
{
	const struct page_policies *policies = &cache->policies;
	struct prefetch_limits prefetch = {
		.streams = processes,
		.cache_pages = cache->pages,
		.most_pages = cache->prefetch_pages,
	};
	struct replacement_limits replacement = { .slots = cache->pages };
	u32 i;

	cache->slot = port_zalloc(cache->pages * sizeof(*cache->slot));
	cache->last = port_zalloc(processes * sizeof(*cache->last));
	cache->next_waiter = port_zalloc(processes * sizeof(*cache->next_waiter));
	if (page_map_init(&cache->map, cache->pages) || !cache->slot || !cache->last ||
	    !cache->next_waiter)
		return -ENOMEM;
	for (i = 0; i < processes; i++)
		cache->last[i].number = U64_MAX;
	cache->used = 0;
	return prefetch_contract_init(&cache->prefetch, policies->prefetcher,
				      policies->prefetcher_tunables, &prefetch)
		       ?: replacement_contract_init(
				  &cache->replacement, policies->replacer,
				  policies->replacer_tunables, &replacement);
}

void page_cache_exit(struct page_cache *cache)
{
	prefetch_contract_exit(&cache->prefetch);
	replacement_contract_exit(&cache->replacement);
	page_map_exit(&cache->map);
	port_free(cache->slot);
	port_free(cache->last);
	port_free(cache->next_waiter);
}

static bool is_there(const struct page_cache *cache, u32 i)
{
	return replacement_contract_is_there(&cache->replacement, i);
}

/* Empty a slot to make room for a page. Return NO_PAGE if no page may be evicted. */
static u32 evict(struct page_cache *cache, struct page_id incoming)
{
	u32 i;

	if (cache->replacement.there <= cache->keeps)
		return NO_PAGE;
	i = replacement_contract_victim(&cache->replacement, incoming);
	if (cache->policies.prefetcher->wasted &&
	    cache->slot[i].prefetched_for != NO_PROCESS)
		prefetch_contract_wasted(&cache->prefetch,
					 cache->slot[i].prefetched_for,
					 page_map_page(&cache->map, i));
	page_map_remove(&cache->map, i);
	return i;
}

/* Find a slot for a page that is to be fetched; return false if there is none. */
static bool add_page(struct page_cache *cache, u32 *bucket, struct page_id page,
		     u32 prefetched_for)
{
	u32 i = cache->used < cache->pages ? cache->used++ : evict(cache, page);

	if (i == NO_PAGE)
		return false;
	replacement_contract_coming(&cache->replacement, i);
	cache->slot[i] = (struct page_slot){ NO_PROCESS, prefetched_for };
	page_map_add_to(&cache->map, bucket, i, page);
	return true;
}

/*
 * Fetch the missing pages of [first, end), in requests that are as long as possible. Those that the
 * process does not read itself count as prefetched.
 */
static void fetch_missing(struct page_cache *cache, u32 process, struct page_id read,
			  u64 first, u64 end)
{
	struct page_id page = { first, read.file };
	u64 from = first;

	for (; page.number < end; page.number++) {
		u32 owner = page.number == read.number ? NO_PROCESS : process;
		u32 *bucket = page_map_bucket(&cache->map, page);

		if (page_map_find_in(&cache->map, bucket, page) == NO_PAGE &&
		    add_page(cache, bucket, page, owner))
			continue;
		if (page.number > from)
			cache->fetch(cache->context, page.file, from,
				     page.number - from, process);
		from = page.number + 1;
	}
	if (end > from)
		cache->fetch(cache->context, page.file, from, end - from, process);
}

/* Fetch the page if it is missing, together with the range if the range is adjacent to it. */
static void fetch(struct page_cache *cache, const struct page_read *read,
		  struct page_range range)
{
	u64 page = read->page.number;
	u64 end = range.first + range.pages;
	bool together = range.pages && range.first <= page + 1 && end > page;

	if (read->found == PAGE_ABSENT && !together)
		fetch_missing(cache, read->stream, read->page, page, page + 1);
	if (read->found == PAGE_ABSENT && together && range.first == page + 1)
		range.first = page;
	if (range.pages)
		fetch_missing(cache, read->stream, read->page, range.first, end);
}

static void wait_for(struct page_cache *cache, u32 process, u32 i)
{
	cache->next_waiter[process] = cache->slot[i].waiter;
	cache->slot[i].waiter = process;
}

/* Tell the policies of a read, and fetch what they want. */
static void note_read(struct page_cache *cache, const struct page_read *read)
{
	struct page_range range = prefetch_contract_read(&cache->prefetch, read);

	if (!range.pages && read->found != PAGE_ABSENT)
		return;
	cache->keeps = read->found == PAGE_THERE;
	fetch(cache, read, range);
	cache->keeps = 0;
}

bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 number,
		     u64 file_pages)
{
	struct page_id page = { number, file };
	u32 i = page_map_find(&cache->map, page);
	bool there = i != NO_PAGE && is_there(cache, i);

	if (there)
		replacement_contract_used(&cache->replacement, i);
	if (i != NO_PAGE)
		cache->slot[i].prefetched_for = NO_PROCESS;
	if (i == NO_PAGE || !page_is(cache->last[process], page)) {
		struct page_read read = {
			.page = page,
			.file_pages = file_pages,
			.stream = process,
			.found = there		? PAGE_THERE
				 : i != NO_PAGE ? PAGE_COMING
						: PAGE_ABSENT,
		};

		cache->last[process] = page;
		note_read(cache, &read);
	}
	if (there)
		return true;
	if (i == NO_PAGE)
		i = page_map_find(&cache->map, page);
	/* If there is no room, all slots are being fetched, so wait for slot 0. */
	wait_for(cache, process, i == NO_PAGE ? 0 : i);
	return false;
}

void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count)
{
	struct page_id page = { first, file };

	for (; page.number < first + count; page.number++) {
		u32 i = page_map_find(&cache->map, page);
		u32 process = cache->slot[i].waiter;

		cache->slot[i].waiter = NO_PROCESS;
		replacement_contract_add(&cache->replacement, i, page);
		while (process != NO_PROCESS) {
			u32 next = cache->next_waiter[process];

			cache->wake(cache->context, process);
			process = next;
		}
	}
}
