/* SPDX-License-Identifier: MIT */
/*
 * The host's page cache. Pages that processes read from files stay in memory. The least recently
 * used page is evicted first. When a process reads sequentially, the cache reads further pages
 * ahead.
 *
 * The pages read ahead are called the window. A miss fetches a window of INITIAL_PAGES if the
 * process begins a file or continues where its last read ended. When the process reaches the first
 * page that it did not request itself, the next window is fetched while the process continues. Each
 * window is twice as long as the one before, up to the limit. All other misses fetch a single page,
 * and so does every miss without read-ahead.
 */
#ifndef UNDERSTUDY_PAGE_CACHE_H
#define UNDERSTUDY_PAGE_CACHE_H

#include "../core/port.h"

#define NO_PAGE U32_MAX
#define NO_PROCESS U32_MAX

struct page;
struct window;

/**
 * struct page_cache - a page cache, and the read-ahead state of each process
 * @pages: number of pages that the cache can hold, including pages being fetched
 * @read_ahead_pages: longest window; 0 or 1: no read-ahead
 * @fetch: called to read `count` pages of a file from the disk, from page `first` on
 * @wake: called when a process that had to wait may retry its read
 * @context: first argument of both functions
 */
struct page_cache {
	u32 pages;
	u32 read_ahead_pages;
	void (*fetch)(void *context, u32 file, u64 first, u32 count, u32 process);
	void (*wake)(void *context, u32 process);
	void *context;

	struct page *page; /* @pages pages */
	u32 *bucket; /* heads of the hash chains */
	u32 nr_buckets;
	u32 used; /* pages that have been used at least once */
	u32 oldest, newest; /* ends of the list of pages that may be evicted */
	struct window *window; /* one for each process */
	u32 *next_waiter; /* next process waiting for the same page, by process */
};

/* The caller must have set the first five fields. Returns 0 or -ENOMEM. */
int page_cache_init(struct page_cache *cache, u32 processes);

/* May be called even if init failed or the cache is zeroed. */
void page_cache_exit(struct page_cache *cache);

/**
 * page_cache_read - let a process read a page
 * @file_pages: length of the file; read-ahead stops at its end
 *
 * Read-ahead during this call does not evict @page.
 *
 * Returns: true if the page is in the cache; false if the process must wait until @wake is called.
 * If there is no room for the page because all pages are being fetched, the process waits for one
 * of them.
 */
bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 page,
		     u64 file_pages);

/* Record that pages have been read from the disk: some or all pages of a call of @fetch. */
void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count);

#endif
