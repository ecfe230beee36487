/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The order of an ascending sweep that may step back a little. A request below the head, within a
 * limit, counts as if it were above the head, at a multiple of its real distance. So a request just
 * below the head need not wait for a whole sweep.
 */
#ifndef UNDERSTUDY_NEAR_H
#define UNDERSTUDY_NEAR_H

#include "request.h"

#define NEAR_BACK_MAX (1ull << 32)
#define NEAR_PENALTY_MAX 1000

/* Requests with at least this rank are served only in the next sweep. */
#define NEAR_NEXT_SWEEP (1ull << 63)

/**
 * struct near_rule - how far a step back may go
 * @back_max: longest step back in sectors, at most NEAR_BACK_MAX
 * @back_penalty: a sector backwards counts as this many sectors forwards, at most NEAR_PENALTY_MAX
 */
struct near_rule {
	u64 back_max;
	u64 back_penalty;
};

/* Return the rank of a request; a request with a smaller rank is served sooner. */
static inline u64 near_rank(const struct near_rule *rule, u64 head,
			    const struct io_request *rq)
{
	if (rq->sector >= head)
		return rq->sector - head;
	if (head - rq->sector <= rule->back_max)
		return (head - rq->sector) * rule->back_penalty;
	return NEAR_NEXT_SWEEP + rq->sector;
}

#endif
