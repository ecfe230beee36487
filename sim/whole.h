/* SPDX-License-Identifier: MIT */
/*
 * Requests that were split into pieces, which are served one by one. A request is complete when its
 * last piece is. The response time of a split request is the mean of its pieces' response times
 * (ICPE 2011, Eq. 6), rounded down to whole ns.
 */
#ifndef UNDERSTUDY_WHOLE_H
#define UNDERSTUDY_WHOLE_H

#include "slots.h"

/**
 * struct whole - a request with pieces that are not served yet
 * @pieces: number of pieces
 * @left: number of pieces not served yet
 * @response_ns: sum of the response times of the served pieces
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

/* capacity: most requests at once. Returns 0 or -ENOMEM. */
int wholes_init(struct wholes *wholes, u32 capacity);

/* May be called even if init failed or the struct is zeroed. */
void wholes_exit(struct wholes *wholes);

/* Begin a request of this many pieces. Returns the request's number, or NO_SLOT. */
u32 wholes_begin(struct wholes *wholes, u64 pieces);

/*
 * Record that a piece of request i was served, with the response time *response_ns. After the last
 * piece, set *response_ns to the response time of the request, free the request's number and return
 * true.
 */
bool wholes_served(struct wholes *wholes, u32 i, u64 *response_ns);

#endif
