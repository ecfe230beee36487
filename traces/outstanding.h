/* SPDX-License-Identifier: MIT */
/*
 * Requests by their operation and the sector at which they begin, in O(1) expected time
 * each; of several with both in common the one that was put first.
 */
#ifndef UNDERSTUDY_TRACES_OUTSTANDING_H
#define UNDERSTUDY_TRACES_OUTSTANDING_H

#include "../core/port.h"

/**
 * struct outstanding_request - one of them
 * @at: the sector by which it is found, which moves when a part of it completes
 * @left: sectors of it that have not completed
 */
struct outstanding_request {
	u64 arrival_ns, dispatch_ns, sector, at;
	u32 sectors, left, owner;
	u8 op;
};

struct outstanding_node;
struct outstanding_pool;

/**
 * struct outstanding - a table that grows
 * @nr: requests in it
 */
struct outstanding {
	u64 nr;
	u64 buckets, keys;
	struct outstanding_node **bucket;
	struct outstanding_node *spare;
	struct outstanding_pool *pool;
};

/* 0 or -ENOMEM. */
int outstanding_init(struct outstanding *table);

/* Also fit for a table whose init failed, or that is zeroed. */
void outstanding_exit(struct outstanding *table);

/* 0 or -ENOMEM.  Its @at is below 2^63. */
int outstanding_put(struct outstanding *table, const struct outstanding_request *rq);

/* The first one that begins there, or NULL; good until the table changes. */
const struct outstanding_request *outstanding_find(const struct outstanding *table,
						   u8 op, u64 at);

/* Take it out; false if there is none. */
bool outstanding_take(struct outstanding *table, u8 op, u64 at,
		      struct outstanding_request *rq);

#endif
