// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Windows that double. A window is the pages fetched at once. A miss opens a window if the stream
 * begins a file or goes on where its last read ended. When the stream reaches the first page that it
 * did not wait for, fetch the next window, twice as long, while the stream goes on. So a stream has
 * few pages in the cache that it does not need soon.
 */
#include "../prefetch.h"

#define FIRST_PAGES 4

/**
 * struct window - the page that a stream reads next, and the pages prefetched for it
 * @file: the file
 * @next: page after the last one that the stream read
 * @marker: when the stream reads this page, the next window is fetched
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

struct ahead {
	u32 most;
	struct window *window; /* one for each stream */
};

static int ahead_init(void *state, const struct prefetch_limits *limits)
{
	struct ahead *ahead = state;

	ahead->most = limits->most_pages;
	ahead->window = port_zalloc(limits->streams * sizeof(*ahead->window));
	return ahead->window ? 0 : -ENOMEM;
}

static void ahead_exit(void *state)
{
	struct ahead *ahead = state;

	port_free(ahead->window);
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Fetch the following pages too if the stream is likely to read them. */
static struct page_range miss(struct ahead *ahead, struct window *window,
			      const struct page_read *read)
{
	u64 page = read->page.number;
	bool goes_on =
		!page || (window->file == read->page.file && window->next == page);

	window->pages = 0;
	if (!goes_on || ahead->most <= 1)
		return (struct page_range){ 0 };
	window->pages = min_u64(FIRST_PAGES, ahead->most);
	window->marker = page + 1;
	window->end = page + window->pages;
	return prefetch_within(read, page + 1, window->pages - 1);
}

static struct page_range hit(struct ahead *ahead, struct window *window,
			     const struct page_read *read)
{
	u64 from = window->end;

	if (window->file != read->page.file || !window->pages ||
	    read->page.number != window->marker)
		return (struct page_range){ 0 };
	window->pages = min_u64(2ull * window->pages, ahead->most);
	window->marker = from;
	window->end += window->pages;
	return prefetch_within(read, from, window->pages);
}

static struct page_range ahead_read(void *state, const struct page_read *read)
{
	struct ahead *ahead = state;
	struct window *window = &ahead->window[read->stream];
	struct page_range range = read->found == PAGE_ABSENT ? miss(ahead, window, read)
							     : hit(ahead, window, read);

	window->file = read->page.file;
	window->next = read->page.number + 1;
	return range;
}

static const struct prefetcher ahead_prefetcher = {
	.name = "ahead",
	.summary = "windows that double while a stream reads in order, as in Linux",
	.state_size = sizeof(struct ahead),
	.init = ahead_init,
	.exit = ahead_exit,
	.read = ahead_read,
};
REGISTER_PREFETCHER(ahead_prefetcher);
