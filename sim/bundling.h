/* SPDX-License-Identifier: MIT */
/*
 * The number of requests of one owner that a server serves together: omega of "IO Performance
 * Prediction in Consolidated Virtualized Environments" (ICPE 2011, section 4.3.1). If omega is not
 * a whole number, one of the two nearest whole numbers is chosen at random for each bundle.
 */
#ifndef UNDERSTUDY_BUNDLING_H
#define UNDERSTUDY_BUNDLING_H

#include "../core/draw.h"

/**
 * struct bundling - omega of one process, minus one; all zero: nothing is bundled
 * @others: number of requests that may join a first request in any case
 * @one_more: probability that one more request may join, in units of 2^-64 (2^63 is one half)
 */
struct bundling {
	u32 others;
	u64 one_more;
};

static inline bool bundles(const struct bundling *bundling)
{
	return bundling->others || bundling->one_more;
}

/* Return whether any process bundles requests; false if bundling is NULL. */
static inline bool bundles_any(const struct bundling *bundling, u32 processes)
{
	u32 i;

	for (i = 0; bundling && i < processes; i++) {
		if (bundles(&bundling[i]))
			return true;
	}
	return false;
}

/* The paper's get_int_value, minus one. A whole omega uses no random number. */
static inline u32 bundling_draw(const struct bundling *bundling, struct draw *draw)
{
	bool one_more = bundling->one_more && draw_u64(draw) < bundling->one_more;

	return bundling->others + one_more;
}

#endif
