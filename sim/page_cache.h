/* SPDX-License-Identifier: MIT */
/*
 * The host's page cache: the pages that processes read from files, the fetches that are on their
 * way, and the processes that wait for them. A prefetcher (core/prefetch.h) chooses what is fetched
 * ahead, and a replacement policy (core/replacement.h) which page a full cache evicts.
 */
#ifndef UNDERSTUDY_PAGE_CACHE_H
#define UNDERSTUDY_PAGE_CACHE_H

#include "../core/page_map.h"
#include "../core/prefetch_contract.h"
#include "../core/replacement_contract.h"

#define NO_PROCESS U32_MAX

/**
 * struct page_policies - a prefetcher and a replacement policy, with the values of their tunables
 */
struct page_policies {
	const struct prefetcher *prefetcher;
	const u64 *prefetcher_tunables;
	const struct replacer *replacer;
	const u64 *replacer_tunables;
};

struct page_slot;

/**
 * struct page_cache - a page cache
 * @pages: number of pages that the cache can hold, including pages being fetched
 * @prefetch_pages: most pages of a prefetch; 0: none
 * @policies: the policies; their declarations are checked
 * @fetch: called to read `count` pages of a file from the disk, from page `first` on
 * @wake: called when a process that had to wait may retry its read
 * @context: first argument of both functions
 * @prefetch: the prefetcher. If it breaks a rule, nothing is prefetched any more
 * @replacement: the replacement policy; which slots have pages
 */
struct page_cache {
	u32 pages;
	u32 prefetch_pages;
	struct page_policies policies;
	void (*fetch)(void *context, u32 file, u64 first, u32 count, u32 process);
	void (*wake)(void *context, u32 process);
	void *context;

	struct prefetch_contract prefetch;
	struct replacement_contract replacement;
	struct page_map map; /* from pages to slots */
	struct page_slot *slot; /* @pages slots */
	u32 used; /* slots that have been used at least once */
	u32 keeps; /* pages that are not evicted now: 1 during a prefetch with a hit */
	struct page_id *last; /* page that each process read last */
	u32 *next_waiter; /* next process waiting for the same page, by process */
};

/*
 * The caller must have set the members up to @context. Returns 0, -ENOMEM, or the error of the init
 * of a policy.
 */
int page_cache_init(struct page_cache *cache, u32 processes);

/* May be called even if init failed or the cache is zeroed. */
void page_cache_exit(struct page_cache *cache);

/**
 * page_cache_read - let a process read a page
 * @file_pages: length of the file; prefetches stop at its end
 *
 * If @page is the only one that could be evicted, it is not evicted for a prefetch.
 *
 * Returns: true if the page is in the cache; false if the process must wait until @wake is called.
 * If there is no room for the page because all pages are being fetched, the process waits for one
 * of them.
 */
bool page_cache_read(struct page_cache *cache, u32 process, u32 file, u64 page,
		     u64 file_pages);

/* Record that pages have been read from the disk: some or all pages of a call of @fetch. */
void page_cache_filled(struct page_cache *cache, u32 file, u64 first, u32 count);

static inline bool page_cache_is_broken(const struct page_cache *cache)
{
	return prefetch_is_broken(&cache->prefetch) ||
	       replacement_is_broken(&cache->replacement);
}

#endif
