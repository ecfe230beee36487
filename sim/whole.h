/* SPDX-License-Identifier: MIT */
/*
 * Requests that were split into pieces, which are served one by one.  A request is
 * answered when its last piece is; its response time is the mean of theirs (ICPE 2011,
 * Eq. 6), rounded down to whole ns.
 */
#ifndef UNDERSTUDY_WHOLE_H
#define UNDERSTUDY_WHOLE_H

#include "slots.h"

/**
 * struct whole - a request with pieces that are not served yet
 * @pieces: how many it has
 * @left: not served yet
 * @response_ns: sum, of those that are
 */
struct whole {
	u64 pieces;
	u64 left;
	unsigned __int128 response_ns;
};

struct wholes {
	struct slots slots;
	struct whole *whole;
};

/* For so many at once: 0 or -ENOMEM. */
int wholes_init(struct wholes *wholes, u32 capacity);

/* Also fit for one whose init failed, or that is zeroed. */
void wholes_exit(struct wholes *wholes);

/* A request of so many pieces: its number, or NO_SLOT. */
u32 wholes_begin(struct wholes *wholes, u64 pieces);

/*
 * A piece of request i was served, after response_ns.  True with the last one: response_ns
 * is then set to the request's, and its number is free.
 */
bool wholes_served(struct wholes *wholes, u32 i, u64 *response_ns);

#endif
