// SPDX-License-Identifier: MIT
#include <string.h>

#include "policies.h"

const struct prefetcher *prefetcher_find(const char *name)
{
	u32 i;

	for (i = 0; i < prefetcher_count(); i++) {
		if (!strcmp(prefetcher_get(i)->name, name))
			return prefetcher_get(i);
	}
	return NULL;
}

const struct replacer *replacer_find(const char *name)
{
	u32 i;

	for (i = 0; i < replacer_count(); i++) {
		if (!strcmp(replacer_get(i)->name, name))
			return replacer_get(i);
	}
	return NULL;
}

struct page_policies policies_any(u64 draw)
{
	u64 prefetcher = draw % prefetcher_count();
	u64 replacer = draw / prefetcher_count() % replacer_count();

	return policies_named(prefetcher_get(prefetcher)->name,
			      replacer_get(replacer)->name);
}

struct page_policies policies_named(const char *prefetcher, const char *replacer)
{
	static u64 prefetcher_tunables[SCHED_FIELDS_MAX];
	static u64 replacer_tunables[SCHED_FIELDS_MAX];
	struct page_policies policies = {
		.prefetcher = prefetcher_find(prefetcher),
		.prefetcher_tunables = prefetcher_tunables,
		.replacer = replacer_find(replacer),
		.replacer_tunables = replacer_tunables,
	};
	u32 i;

	for (i = 0; i < policies.prefetcher->nr_tunables; i++)
		prefetcher_tunables[i] = policies.prefetcher->tunables[i].initial;
	for (i = 0; i < policies.replacer->nr_tunables; i++)
		replacer_tunables[i] = policies.replacer->tunables[i].initial;
	return policies;
}
