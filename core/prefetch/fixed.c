// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Prefetch on a miss, always the same number of pages. This file is the template to copy for a new
 * prefetcher; docs/prefetch/fixed.md walks through it.
 */
#include "../prefetch.h"

struct fixed {
	u64 pages;
	u64 prefetched;

	u64 most; /* the limit of the host, the missing page included */
};

static const struct sched_field fixed_tunables[] = {
	SCHED_TUNABLE(fixed, pages, 1 << 15, 1, 1 << 15,
		      "pages fetched at a miss, if the host's limit allows so many"),
};

static const struct sched_field fixed_counters[] = {
	SCHED_COUNTER(fixed, prefetched, "pages prefetched"),
};

static int fixed_init(void *state, const struct prefetch_limits *limits)
{
	struct fixed *fixed = state;

	fixed->most = limits->most_pages;
	if (fixed->most > fixed->pages)
		fixed->most = fixed->pages;
	return 0;
}

static struct page_range fixed_read(void *state, const struct page_read *read)
{
	struct fixed *fixed = state;
	struct page_range range = { 0 };

	if (read->found == PAGE_ABSENT && fixed->most)
		range = prefetch_within(read, read->page.number + 1, fixed->most - 1);
	fixed->prefetched += range.pages;
	return range;
}

static const struct prefetcher fixed_prefetcher = {
	.name = "fixed",
	.summary = "at each miss, fetches a fixed number of pages",
	.state_size = sizeof(struct fixed),
	.tunables = fixed_tunables,
	.nr_tunables = ARRAY_SIZE(fixed_tunables),
	.counters = fixed_counters,
	.nr_counters = ARRAY_SIZE(fixed_counters),
	.init = fixed_init,
	.read = fixed_read,
};
REGISTER_PREFETCHER(fixed_prefetcher);
