/* SPDX-License-Identifier: MIT */
/*
 * The host's page cache. Pages that processes read from files stay in memory. The least recently
 * used page is evicted first. A process that reads sequentially finds the next pages read ahead.
 *
 * Read-ahead doubles. A process that begins a file, or continues where it stopped, and misses gets
 * INITIAL_PAGES. When it reaches the first page that it did not request itself, the next window,
 * twice as long, is fetched while the process reads on; and so forth up to the limit. All other
 * pages are read one at a time. Without read-ahead a miss fetches one page.
 */
#ifndef UNDERSTUDY_PAGE_CACHE_H
#define UNDERSTUDY_PAGE_CACHE_H

#include "../core/port.h"

#define NO_PAGE U32_MAX
#define NO_PROCESS U32_MAX

struct page;
struct window;

/**
 * struct page_cache - a cache, and each process's use of it
 * @pages: how many pages it holds, including pages being fetched
 * @read_ahead_pages: longest window; 0 and 1: no read-ahead
 * @fetch: called to read the pages first .. first + count of a file from the disk
 * @wake: called when a process that had to wait may retry
 * @context: passed to both
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
	u32 used; /* pages that have been in use at least once */
	u32 oldest, newest; /* of those that may be evicted */
	struct window *window; /* one for each process */
	u32 *next_waiter; /* next process waiting for the same page, by process */
};

/* The caller sets the first five fields; returns 0 or -ENOMEM. */
int page_cache_init(struct page_cache *cache, u32 processes);

/* Valid also if init failed or the cache is zeroed. */
void page_cache_exit(struct page_cache *cache);

/**
 * page_cache_read - a process wants a page
 * @file_pages: length of the file; read-ahead stops at its end
 *
 * The read-ahead of this call does not evict the page.
 *
 * Returns: true if the page is there; false if the process has to wait for @wake. If there is no
 * room for the page, because all others are being fetched, the process waits for one of those.
 */
bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 page,
		     u64 file_pages);

/* Some or all of the pages that @fetch was called for have been read. */
void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count);

#endif
