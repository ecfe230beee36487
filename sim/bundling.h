/* SPDX-License-Identifier: MIT */
/*
 * How many requests of one owner a server takes as one: omega of "IO Performance
 * Prediction in Consolidated Virtualized Environments" (ICPE 2011, section 4.3.1), which
 * is a whole number or lies between two, and is then drawn each time.
 */
#ifndef UNDERSTUDY_BUNDLING_H
#define UNDERSTUDY_BUNDLING_H

#include "../core/draw.h"

/**
 * struct bundling - omega - 1 of one process; all zero: nothing is bundled
 * @others: how many may go with a request, at most
 * @one_more: chance, in 2^-64, that it is one more than that: 2^63 makes 2.5 of 1.5
 */
struct bundling {
	u32 others;
	u64 one_more;
};

static inline bool bundles(const struct bundling *bundling)
{
	return bundling->others || bundling->one_more;
}

/* Does any of so many?  NULL: none does. */
static inline bool bundles_any(const struct bundling *bundling, u32 processes)
{
	u32 i;

	for (i = 0; bundling && i < processes; i++) {
		if (bundles(&bundling[i]))
			return true;
	}
	return false;
}

/* The paper's get_int_value, less one.  Nothing is drawn for a whole number. */
static inline u32 bundling_draw(const struct bundling *bundling, struct draw *draw)
{
	bool one_more = bundling->one_more && draw_u64(draw) < bundling->one_more;

	return bundling->others + one_more;
}

#endif
