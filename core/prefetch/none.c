// SPDX-License-Identifier: GPL-2.0 OR MIT
/* No prefetching: each missing page is fetched alone. */
#include "../prefetch.h"

static struct page_range none_read(void *state, const struct page_read *read)
{
	return (struct page_range){ 0 };
}

static const struct prefetcher none_prefetcher = {
	.name = "none",
	.summary = "fetches only the page that is read",
	.read = none_read,
};
REGISTER_PREFETCHER(none_prefetcher);
