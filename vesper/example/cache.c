// SPDX-License-Identifier: MIT
/*
 * The page cache. Two decisions are made elsewhere, each in one file that students replace: which
 * pages are fetched with a page (core/prefetch.h), and which page leaves a full cache
 * (core/replacement.h). Without these files (Makefile: PREFETCH, REPLACEMENT) nothing is prefetched,
 * and the page that has been longest in the cache leaves.
 */
#include <stdio.h>
#include <stdlib.h>

#include "os.h"
#include "policies.h"

enum { ABSENT, COMING, THERE };

struct slot {
	char data[BLOCK_BYTES];
	u32 file, page;
	u32 state;
	u32 prefetched_for; /* a thread that has not read the page yet, or NO_SLOT */
};

/* Pages on their way from the disk, in one request. */
struct fetch {
	u32 file, first, pages;
	char data[];
};

static struct slot *slots;
static u32 nr_slots, most_pages;
static u32 hits, misses;
static struct thread *waiting[THREADS_MAX]; /* by its number */
static u32 waits_for[THREADS_MAX]; /* a slot */
static struct {
	u32 file, page;
} last[THREADS_MAX]; /* page that each thread read */

void cache_init(const struct options *options)
{
	nr_slots = options->cache_pages;
	most_pages = options->most_pages;
	if (!nr_slots)
		return;
	slots = calloc(nr_slots, sizeof(*slots));
	memset(last, 0xff, sizeof(last)); /* no file has this number */
	if (!slots || !policies_init(nr_slots, most_pages, THREADS_MAX))
		panic("the cache does not start");
}

bool cache_is_on(void)
{
	return nr_slots;
}

static u32 find(u32 file, u32 page)
{
	u32 i;

	for (i = 0; i < nr_slots; i++) {
		if (slots[i].state != ABSENT && slots[i].page == page &&
		    slots[i].file == file)
			return i;
	}
	return NO_SLOT;
}

/*
 * Return a slot for a new page; NO_SLOT if too few pages can leave. `keeps` is 1 while a thread reads a
 * page: it is not the only one to leave.
 */
static u32 make_room(u32 file, u32 page, u32 keeps)
{
	u32 there = 0, i;

	for (i = 0; i < nr_slots; i++) {
		if (slots[i].state == ABSENT)
			return i;
		there += slots[i].state == THERE;
	}
	if (there <= keeps)
		return NO_SLOT;
	i = policies_victim(file, page);
	if (i >= nr_slots || slots[i].state != THERE)
		panic("the replacement policy evicts slot %u, which has no page", i);
	if (slots[i].prefetched_for != NO_SLOT)
		policies_wasted(slots[i].prefetched_for, slots[i].file, slots[i].page);
	return i;
}

static void wake_those_that_wait_for(u32 slot)
{
	u32 i;

	for (i = 0; i < THREADS_MAX; i++) {
		if (!waiting[i] || waits_for[i] != slot)
			continue;
		thread_wake(waiting[i]);
		waiting[i] = NULL;
	}
}

static void fetched(void *argument)
{
	struct fetch *fetch = argument;
	u32 i;

	for (i = 0; i < fetch->pages; i++) {
		u32 slot = find(fetch->file, fetch->first + i);

		memcpy(slots[slot].data, fetch->data + (size_t)i * BLOCK_BYTES,
		       BLOCK_BYTES);
		slots[slot].state = THERE;
		policies_add(slot, fetch->file, fetch->first + i);
		wake_those_that_wait_for(slot);
	}
	free(fetch);
}

static void request(u32 file, u32 first, u32 pages, u32 file_block)
{
	struct fetch *fetch = malloc(sizeof(*fetch) + (size_t)pages * BLOCK_BYTES);

	if (!fetch)
		panic("no memory");
	fetch->file = file;
	fetch->first = first;
	fetch->pages = pages;
	disk_read(file_block + first, pages, fetch->data, fetched, fetch);
}

/*
 * Fetch those of the pages that are missing, in requests that are as long as possible. All but page
 * `wanted` are prefetched.
 */
static void fetch_missing(u32 file, u32 first, u32 end, u32 wanted, u32 file_block,
			  u32 keeps)
{
	u32 from = first, at;

	for (at = first; at < end; at++) {
		u32 slot = NO_SLOT;

		if (find(file, at) == NO_SLOT)
			slot = make_room(file, at, keeps);
		if (slot != NO_SLOT) {
			slots[slot].file = file;
			slots[slot].page = at;
			slots[slot].state = COMING;
			slots[slot].prefetched_for =
				at == wanted ? NO_SLOT
					     : thread_number(thread_current());
			continue;
		}
		if (at > from)
			request(file, from, at - from, file_block);
		from = at + 1;
	}
	if (end > from)
		request(file, from, end - from, file_block);
}

/* Fetch the page if it is missing, together with what the prefetcher wants if that is adjacent. */
static void fetch_with(u32 file, u32 page, u32 file_pages, u32 file_block, u32 found)
{
	u32 first = page, pages = 0;
	u32 keeps = found == THERE;
	bool together;

	if (most_pages)
		pages = policies_prefetch(file, page, file_pages, found, &first);
	together = pages && first <= page + 1 && first + pages > page;
	if (found == ABSENT && !together)
		fetch_missing(file, page, page + 1, page, file_block, keeps);
	if (found == ABSENT && together && first == page + 1)
		fetch_missing(file, page, first + pages, page, file_block, keeps);
	else if (pages)
		fetch_missing(file, first, first + pages, page, file_block, keeps);
}

/* Copy bytes of a page if it is there. Otherwise see that it comes, and return the slot to wait for. */
static u32 try_read(const struct page_place *place, u32 within, void *to, u32 bytes)
{
	u32 file = place->file, page = place->page;
	u32 thread = thread_number(thread_current());
	u32 slot = find(file, page);
	u32 found = slot == NO_SLOT ? ABSENT : slots[slot].state;
	bool again = last[thread].file == file && last[thread].page == page;

	if (found == THERE) {
		memcpy(to, slots[slot].data + within, bytes);
		policies_used(slot);
	}
	if (found != ABSENT)
		slots[slot].prefetched_for = NO_SLOT;
	last[thread].file = file;
	last[thread].page = page;
	if (found == ABSENT || !again)
		fetch_with(file, page, place->file_pages, place->file_block, found);
	if (found == THERE)
		return NO_SLOT;
	slot = find(file, page);
	return slot == NO_SLOT ? 0 : slot; /* without room, any page may make some */
}

void cache_read(const struct page_place *place, u32 within, void *to, u32 bytes)
{
	u32 thread = thread_number(thread_current());
	u32 slot;

	while ((slot = try_read(place, within, to, bytes)) != NO_SLOT) {
		misses++;
		waiting[thread] = thread_current();
		waits_for[thread] = slot;
		thread_wait();
	}
	hits++;
}

void cache_report(void)
{
	if (nr_slots)
		printf("cache of %u pages: %u hits, %u misses\n", nr_slots, hits,
		       misses);
}
