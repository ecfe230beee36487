/* SPDX-License-Identifier: MIT */
/*
 * The host's page cache: what processes read of files stays in memory, the least
 * recently used page goes first, and a process that reads on from where it was finds
 * the next pages read ahead.
 *
 * Read-ahead doubles.  A process that begins a file, or goes on where it stopped, and
 * misses, gets INITIAL_PAGES; when it reaches the first page that it did not ask for
 * itself, the next window, twice as long, is fetched while it reads on; and so forth up
 * to the limit.  Anything else is read page by page.  Without read-ahead a miss fetches
 * one page.
 */
#ifndef UNDERSTUDY_PAGE_CACHE_H
#define UNDERSTUDY_PAGE_CACHE_H

#include "../core/port.h"

#define NO_PAGE U32_MAX
#define NO_PROCESS U32_MAX

struct page;
struct window;

/**
 * struct page_cache - a cache and what each process does with it
 * @pages: how many pages it holds; pages on their way count
 * @read_ahead_pages: longest window; 0 and 1 read nothing ahead
 * @fetch: the pages first .. first + count of a file have to be read from the disk
 * @wake: a process that had to wait may ask again
 * @context: handed to both
 */
struct page_cache {
	u32 pages;
	u32 read_ahead_pages;
	void (*fetch)(void *context, u32 file, u64 first, u32 count, u32 process);
	void (*wake)(void *context, u32 process);
	void *context;

	struct page *page; /* all of them */
	u32 *bucket; /* heads of the hash chains */
	u32 nr_buckets;
	u32 used; /* pages that have been handed out at least once */
	u32 oldest, newest; /* of those that may go */
	struct window *window; /* one a process */
	u32 *next_waiter; /* of the same page, by process */
};

/* The first five fields are set; 0 or -ENOMEM. */
int page_cache_init(struct page_cache *cache, u32 processes);

/* Also fit for a cache whose init failed, or that is zeroed. */
void page_cache_exit(struct page_cache *cache);

/**
 * page_cache_read - a process wants a page
 * @file_pages: length of the file; nothing is read ahead past its end
 *
 * A page that is there is not evicted by what this call reads ahead.
 *
 * Returns: true if it has it; false if it has to wait for @wake.  With no room for the
 * page, because all others are on their way, it waits for one of those.
 */
bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 page,
		     u64 file_pages);

/* What @fetch asked for, or a part of it, is there. */
void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count);

#endif
