// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Windows that double, as in Linux. A window is the pages fetched at once. A miss opens a window of
 * a few pages if the stream begins a file or continues where its last read ended. When the stream
 * reaches the first page that it did not itself wait for, the next window is fetched while it goes
 * on. Each window is twice as long as the one before, up to the limit. All other misses fetch a
 * single page.
 */
#include "../prefetch.h"

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

struct doubling {
	u64 first_pages;
	u64 windows;

	u32 most;
	struct window *window; /* one for each stream */
};

static const struct sched_field doubling_tunables[] = {
	SCHED_TUNABLE(doubling, first_pages, 4, 1, 1 << 15,
		      "pages of the first window"),
};

static const struct sched_field doubling_counters[] = {
	SCHED_COUNTER(doubling, windows, "windows fetched"),
};

static int doubling_init(void *state, const struct prefetch_limits *limits)
{
	struct doubling *doubling = state;

	doubling->most = limits->most_pages;
	doubling->window = port_zalloc(limits->streams * sizeof(*doubling->window));
	return doubling->window ? 0 : -ENOMEM;
}

static void doubling_exit(void *state)
{
	struct doubling *doubling = state;

	port_free(doubling->window);
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Fetch the following pages too if the stream is likely to read them. */
static struct page_range miss(struct doubling *doubling, struct window *window,
			      const struct page_read *read)
{
	u64 page = read->page.number;
	bool goes_on =
		!page || (window->file == read->page.file && window->next == page);

	window->pages = 0;
	if (!goes_on || doubling->most <= 1)
		return (struct page_range){ 0 };
	window->pages = min_u64(doubling->first_pages, doubling->most);
	window->marker = page + 1;
	window->end = page + window->pages;
	doubling->windows++;
	return prefetch_within(read, page + 1, window->pages - 1);
}

static struct page_range hit(struct doubling *doubling, struct window *window,
			     const struct page_read *read)
{
	u64 from = window->end;

	if (window->file != read->page.file || !window->pages ||
	    read->page.number != window->marker)
		return (struct page_range){ 0 };
	window->pages = min_u64(2ull * window->pages, doubling->most);
	window->marker = from;
	window->end += window->pages;
	doubling->windows++;
	return prefetch_within(read, from, window->pages);
}

static struct page_range doubling_read(void *state, const struct page_read *read)
{
	struct doubling *doubling = state;
	struct window *window = &doubling->window[read->stream];
	struct page_range range = read->found == PAGE_ABSENT
					  ? miss(doubling, window, read)
					  : hit(doubling, window, read);

	window->file = read->page.file;
	window->next = read->page.number + 1;
	return range;
}

static const struct prefetcher doubling_prefetcher = {
	.name = "doubling",
	.summary = "windows that double while a stream reads in order, as in Linux",
	.state_size = sizeof(struct doubling),
	.tunables = doubling_tunables,
	.nr_tunables = ARRAY_SIZE(doubling_tunables),
	.counters = doubling_counters,
	.nr_counters = ARRAY_SIZE(doubling_counters),
	.init = doubling_init,
	.exit = doubling_exit,
	.read = doubling_read,
};
REGISTER_PREFETCHER(doubling_prefetcher);
