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
};

/* Pages on their way from the disk, in one request. */
struct fetch {
	u32 file, first, pages;
	char data[];
};

static struct slot *slots;
static u32 nr_slots, most_pages;
static u32 hits, misses;
static struct thread *waiting[THREADS_MAX]; /* for any page */
static u32 nr_waiting;

void cache_init(const struct options *options)
{
	nr_slots = options->cache_pages;
	most_pages = options->most_pages;
	if (!nr_slots)
		return;
	slots = calloc(nr_slots, sizeof(*slots));
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

/* Return a slot for a new page, which may be another page's; NO_SLOT if all pages are on their way. */
static u32 make_room(u32 file, u32 page)
{
	bool has_page = false;
	u32 i;

	for (i = 0; i < nr_slots; i++) {
		if (slots[i].state == ABSENT)
			return i;
		has_page |= slots[i].state == THERE;
	}
	if (!has_page)
		return NO_SLOT;
	i = policies_victim(file, page);
	if (i >= nr_slots || slots[i].state != THERE)
		panic("the replacement policy evicts slot %u, which has no page", i);
	return i;
}

static void wake_all(void)
{
	u32 i, count = nr_waiting;

	nr_waiting = 0;
	for (i = 0; i < count; i++)
		thread_wake(waiting[i]);
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
	}
	free(fetch);
	wake_all();
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

/* Fetch those of the pages that are missing, in requests that are as long as possible. */
static void fetch_missing(u32 file, u32 first, u32 end, u32 file_block)
{
	u32 from = first, at;

	for (at = first; at < end; at++) {
		u32 slot = find(file, at) == NO_SLOT ? make_room(file, at) : NO_SLOT;

		if (slot != NO_SLOT) {
			slots[slot] = (struct slot){ .file = file, .page = at };
			slots[slot].state = COMING;
			continue;
		}
		if (at > from)
			request(file, from, at - from, file_block);
		from = at + 1;
	}
	if (end > from)
		request(file, from, end - from, file_block);
}

/* Fetch the page if it is missing, and what the prefetcher wants with it. */
static void fetch_with(u32 file, u32 page, u32 file_pages, u32 file_block, u32 found)
{
	u32 first, pages = 0;

	if (most_pages)
		pages = policies_prefetch(file, page, file_pages, found, &first);
	if (found == ABSENT && pages && (first == page || first == page + 1)) {
		fetch_missing(file, page, first + pages, file_block);
		return;
	}
	if (found == ABSENT)
		fetch_missing(file, page, page + 1, file_block);
	if (pages)
		fetch_missing(file, first, first + pages, file_block);
}

const char *cache_read(u32 file, u32 page, u32 file_pages, u32 file_block)
{
	u32 slot = find(file, page);
	u32 found = slot == NO_SLOT ? ABSENT : slots[slot].state;

	hits += found == THERE;
	misses += found != THERE;
	if (found == THERE)
		policies_used(slot);
	fetch_with(file, page, file_pages, file_block, found);
	slot = find(file, page);
	while (slot == NO_SLOT || slots[slot].state != THERE) {
		waiting[nr_waiting++] = thread_current();
		thread_wait();
		slot = find(file, page);
		if (slot == NO_SLOT)
			fetch_missing(file, page, page + 1, file_block);
		slot = find(file, page);
	}
	if (found != THERE)
		policies_used(slot);
	return slots[slot].data;
}

void cache_report(void)
{
	if (nr_slots)
		printf("cache of %u pages: %u hits, %u misses\n", nr_slots, hits,
		       misses);
}
