// SPDX-License-Identifier: MIT
#include "page_cache.h"

#define INITIAL_PAGES 4

/**
 * struct page - a page of a file
 * @file: the file
 * @number: number of the page in the file
 * @ready: is the page in the cache? Otherwise it is being fetched
 * @waiter: first process that waits for it
 * @chain: next page in its hash chain
 * @older: neighbour in the list, towards the least recently used page
 * @newer: neighbour in the list, towards the most recently used page
 */
struct page {
	u32 file;
	u64 number;
	bool ready;
	u32 waiter;
	u32 chain;
	u32 older, newer;
};

/**
 * struct window - the page that a process reads next, and the pages read ahead for it
 * @file: the file
 * @next: page after the last one that the process read
 * @marker: when the process reads this page, the next window is fetched
 * @end: page after the window
 * @pages: length of the window; 0: there is no window
 */
struct window {
	u32 file;
	u64 next;
	u64 marker;
	u64 end;
	u32 pages;
};

static u32 power_of_two_from(u32 n)
{
	u32 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

int page_cache_init(struct page_cache *cache, u32 processes)
{
	u32 i;

	cache->nr_buckets = power_of_two_from(cache->pages);
	cache->page = port_zalloc(cache->pages * sizeof(*cache->page));
	cache->bucket = port_zalloc(cache->nr_buckets * sizeof(*cache->bucket));
	cache->window = port_zalloc(processes * sizeof(*cache->window));
	cache->next_waiter = port_zalloc(processes * sizeof(*cache->next_waiter));
	if (!cache->page || !cache->bucket || !cache->window || !cache->next_waiter)
		return -ENOMEM;
	for (i = 0; i < cache->nr_buckets; i++)
		cache->bucket[i] = NO_PAGE;
	cache->oldest = NO_PAGE;
	cache->newest = NO_PAGE;
	cache->used = 0;
	return 0;
}

void page_cache_exit(struct page_cache *cache)
{
	port_free(cache->page);
	port_free(cache->bucket);
	port_free(cache->window);
	port_free(cache->next_waiter);
}

static u32 *bucket_of(const struct page_cache *cache, u32 file, u64 number)
{
	u64 key = (number << 20 ^ file) * 0x9e3779b97f4a7c15ull;

	return &cache->bucket[key >> 32 & (cache->nr_buckets - 1)];
}

static u32 find(const struct page_cache *cache, u32 file, u64 number)
{
	u32 i = *bucket_of(cache, file, number);

	while (i != NO_PAGE &&
	       (cache->page[i].number != number || cache->page[i].file != file))
		i = cache->page[i].chain;
	return i;
}

/* The list of pages that may be evicted. */

static void list_add(struct page_cache *cache, u32 i)
{
	struct page *page = &cache->page[i];

	page->older = cache->newest;
	page->newer = NO_PAGE;
	if (cache->newest != NO_PAGE)
		cache->page[cache->newest].newer = i;
	else
		cache->oldest = i;
	cache->newest = i;
}

static void list_remove(struct page_cache *cache, u32 i)
{
	struct page *page = &cache->page[i];

	if (page->older != NO_PAGE)
		cache->page[page->older].newer = page->newer;
	else
		cache->oldest = page->newer;
	if (page->newer != NO_PAGE)
		cache->page[page->newer].older = page->older;
	else
		cache->newest = page->older;
}

static void forget_oldest(struct page_cache *cache)
{
	u32 i = cache->oldest;
	u32 *link = bucket_of(cache, cache->page[i].file, cache->page[i].number);

	while (*link != i)
		link = &cache->page[*link].chain;
	*link = cache->page[i].chain;
	list_remove(cache, i);
}

/*
 * Add a page that is to be fetched, in place of the least recently used page if the cache is full.
 * Return NO_PAGE if all pages are being fetched.
 */
static u32 add_page(struct page_cache *cache, u32 file, u64 number)
{
	u32 *bucket = bucket_of(cache, file, number);
	u32 i = cache->used;

	if (i < cache->pages) {
		cache->used++;
	} else {
		i = cache->oldest;
		if (i == NO_PAGE)
			return NO_PAGE;
		forget_oldest(cache);
	}
	cache->page[i] = (struct page){
		.file = file,
		.number = number,
		.waiter = NO_PROCESS,
		.chain = *bucket,
	};
	*bucket = i;
	return i;
}

/* Fetch the missing pages of [first, end), in requests that are as long as possible. */
static void fetch_missing(struct page_cache *cache, u32 process, u32 file, u64 first,
			  u64 end)
{
	u64 from = first;
	u64 at;

	for (at = first; at < end; at++) {
		if (find(cache, file, at) == NO_PAGE &&
		    add_page(cache, file, at) != NO_PAGE)
			continue;
		if (at > from)
			cache->fetch(cache->context, file, from, at - from, process);
		from = at + 1;
	}
	if (end > from)
		cache->fetch(cache->context, file, from, end - from, process);
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static void open_window(struct page_cache *cache, struct window *window, u64 page)
{
	window->pages = min_u64(INITIAL_PAGES, cache->read_ahead_pages);
	window->marker = page + 1;
	window->end = page + window->pages;
}

static void next_window(struct page_cache *cache, struct window *window)
{
	window->pages = min_u64(2 * window->pages, cache->read_ahead_pages);
	window->marker = window->end;
	window->end += window->pages;
}

/* Fetch a missing page, and the following ones if the process is likely to read them. */
static void miss(struct page_cache *cache, u32 process, u32 file, u64 page,
		 u64 file_pages)
{
	struct window *window = &cache->window[process];
	bool goes_on = page == 0 || (window->file == file && window->next == page);

	window->pages = 0;
	window->end = page + 1;
	if (goes_on && cache->read_ahead_pages > 1)
		open_window(cache, window, page);
	/* If a process reads a page past the end of the file, that page is fetched too. */
	fetch_missing(cache, process, file, page,
		      min_u64(window->end, page < file_pages ? file_pages : page + 1));
}

static void read_ahead(struct page_cache *cache, u32 process, u32 file, u64 page,
		       u64 file_pages)
{
	struct window *window = &cache->window[process];
	u64 from = window->end;

	if (window->file != file || !window->pages || page != window->marker)
		return;
	next_window(cache, window);
	if (from < file_pages)
		fetch_missing(cache, process, file, from,
			      min_u64(window->end, file_pages));
}

static void wait_for(struct page_cache *cache, u32 process, u32 i)
{
	cache->next_waiter[process] = cache->page[i].waiter;
	cache->page[i].waiter = process;
}

bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 page,
		     u64 file_pages)
{
	struct window *window = &cache->window[process];
	u32 i = find(cache, file, page);
	bool ready = i != NO_PAGE && cache->page[i].ready;

	/* While the page is not in the list, it cannot be evicted to make room for read-ahead. */
	if (ready)
		list_remove(cache, i);
	if (i == NO_PAGE)
		miss(cache, process, file, page, file_pages);
	else
		read_ahead(cache, process, file, page, file_pages);
	window->file = file;
	window->next = page + 1;
	if (ready) {
		list_add(cache, i);
		return true;
	}
	i = find(cache, file, page);
	/* If there is no room, all entries are being fetched, so wait for entry 0. */
	wait_for(cache, process, i == NO_PAGE ? 0 : i);
	return false;
}

void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count)
{
	u64 at;

	for (at = first; at < first + count; at++) {
		u32 i = find(cache, file, at);
		u32 process = cache->page[i].waiter;

		cache->page[i].ready = true;
		cache->page[i].waiter = NO_PROCESS;
		list_add(cache, i);
		while (process != NO_PROCESS) {
			u32 next = cache->next_waiter[process];

			cache->wake(cache->context, process);
			process = next;
		}
	}
}
