/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What schedulers, prefetchers and replacement policies declare alike, and the checks of it. The
 * checks call none of their operations.
 */
#ifndef UNDERSTUDY_DECLARATION_H
#define UNDERSTUDY_DECLARATION_H

#include "field.h"

/* The members are those of struct scheduler. */
struct declaration {
	const char *name;
	const char *summary;
	size_t state_size;
	const struct sched_field *tunables;
	u32 nr_tunables;
	const struct sched_field *counters;
	u32 nr_counters;
};

/* Return the declaration of a scheduler, a prefetcher or a replacement policy. */
#define DECLARATION(of)                           \
	((struct declaration){                    \
		.name = (of)->name,               \
		.summary = (of)->summary,         \
		.state_size = (of)->state_size,   \
		.tunables = (of)->tunables,       \
		.nr_tunables = (of)->nr_tunables, \
		.counters = (of)->counters,       \
		.nr_counters = (of)->nr_counters, \
	})

/*
 * Check the name and the summary, and check the tunables and the counters. If they break a rule,
 * write a message of at most CONTRACT_TEXT bytes, and return false.
 */
bool declaration_check_names(const struct declaration *declaration, char *broken);
bool declaration_check_fields(const struct declaration *declaration, char *broken);

#endif
