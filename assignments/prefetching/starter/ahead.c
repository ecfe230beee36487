// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * TODO: a prefetcher. This file fetches nothing but the page that is read. headers/prefetch.h
 * explains every operation.
 */
#include "../prefetch.h"

struct ahead {
	u32 most; /* longest range */
};

static int ahead_init(void *state, const struct prefetch_limits *limits)
{
	struct ahead *ahead = state;

	ahead->most = limits->most_pages;
	return 0;
}

static struct page_range ahead_read(void *state, const struct page_read *read)
{
	struct page_range nothing = { 0 };

	return nothing;
}

static const struct prefetcher ahead_prefetcher = {
	.name = "ahead",
	.summary = "TODO",
	.state_size = sizeof(struct ahead),
	.init = ahead_init,
	.read = ahead_read,
};
REGISTER_PREFETCHER(ahead_prefetcher);
