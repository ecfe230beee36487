/* SPDX-License-Identifier: MIT */
/* The prefetchers and replacement policies linked into a program (sim/registry.h). */
#ifndef UNDERSTUDY_TEST_POLICIES_H
#define UNDERSTUDY_TEST_POLICIES_H

#include "../../sim/page_cache.h"
#include "../../sim/registry.h"

/* Return the policy of that name, or NULL. */
const struct prefetcher *prefetcher_find(const char *name);
const struct replacer *replacer_find(const char *name);

/* Return any two policies, as policies_named does. */
struct page_policies policies_any(u64 draw);

/* Return the two policies with their tunables' initial values, which the next call overwrites. */
struct page_policies policies_named(const char *prefetcher, const char *replacer);

#endif
