/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The interface that a prefetcher implements: when a stream reads a page of a file, which pages are
 * fetched with it? A prefetcher is one file under prefetch/. prefetch/fixed.c is the template to
 * copy.
 *
 * A stream is what reads one page after the other: a process, or an open file. The host owns the
 * pages. It fetches the page that is read, if it is missing, and of the range that the prefetcher
 * returns the pages that are missing. It never calls two operations at a time. No operation sleeps,
 * reads a clock or knows what the host is.
 *
 * The rules in this file bind both host and prefetcher; prefetch_contract.h enforces the
 * prefetcher's rules.
 */
#ifndef UNDERSTUDY_PREFETCH_H
#define UNDERSTUDY_PREFETCH_H

#include "field.h"
#include "page.h"

/**
 * struct prefetch_limits - what a prefetcher may know when its init is called
 * @streams: number of streams
 * @cache_pages: pages that the cache can hold
 * @most_pages: most pages of a range; 0: nothing is prefetched
 */
struct prefetch_limits {
	u32 streams;
	u32 cache_pages;
	u32 most_pages;
};

/* Where the host found the page: nowhere, on its way from the disk, or in the cache. */
enum page_found { PAGE_ABSENT, PAGE_COMING, PAGE_THERE };

/**
 * struct page_read - a stream reads a page
 * @page: the page
 * @file_pages: number of pages of the file. A program may read past the end
 * @stream: who reads, below the limit
 * @found: enum page_found
 */
struct page_read {
	struct page_id page;
	u64 file_pages;
	u32 stream;
	u32 found;
};

/* Pages of the file that is read: @pages of them, from page @first on. None if @pages is 0. */
struct page_range {
	u64 first;
	u64 pages;
};

/**
 * struct prefetcher - a prefetcher
 * @name: the name by which people choose it, of a-z, 0-9, - and _, at most SCHED_NAME_MAX
 * @summary: one line for people
 * @state_size: size of the state in bytes; before @init, the host allocates it, zeroed, and writes
 *	the tunables' values into it. They do not change any more
 * @tunables: values that the host sets
 * @nr_tunables: number of tunables
 * @counters: values that the host only reads
 * @nr_counters: number of counters
 * @init: prepare the state; returns 0 or a negative errno, and frees what it allocated in that case.
 *	May be NULL.
 * @exit: free what @init allocated. May be NULL.
 * @read: a stream reads a page. The host may leave out further reads of the same page by the same
 *	stream, unless the page has gone. The range must lie within the file, must not have more
 *	pages than the limit, and must not be the same for PREFETCH_SAME_MAX different reads of a
 *	stream in succession. A range that begins at the page or right behind it is fetched together
 *	with it. @read must not change the struct page_read.
 * @wasted: a page that was prefetched for this stream was evicted, and nobody had read it. May be
 *	NULL.
 */
struct prefetcher {
	const char *name;
	const char *summary;
	size_t state_size;
	const struct sched_field *tunables;
	u32 nr_tunables;
	const struct sched_field *counters;
	u32 nr_counters;

	int (*init)(void *state, const struct prefetch_limits *limits);
	void (*exit)(void *state);
	struct page_range (*read)(void *state, const struct page_read *read);
	void (*wasted)(void *state, u32 stream, struct page_id page);
};

#define PREFETCH_SAME_MAX 1000

/* Return the range without what lies past the end of the file. */
static inline struct page_range prefetch_within(const struct page_read *read, u64 first,
						u64 pages)
{
	u64 left = first < read->file_pages ? read->file_pages - first : 0;

	return (struct page_range){ first, pages < left ? pages : left };
}

/* Register a prefetcher, as REGISTER_SCHEDULER registers a scheduler (core/scheduler.h). */
#ifdef SCHEDULERS_IN_A_LIST
#define REGISTER_PREFETCHER(p)                        \
	const struct prefetcher *const prefetcher_##p \
		__attribute__((visibility("hidden"))) = &(p)
#else
extern const struct prefetcher *const module_prefetcher;
#define REGISTER_PREFETCHER(p)                           \
	const struct prefetcher *const module_prefetcher \
		__attribute__((visibility("default"))) = &(p)
#endif

#endif
