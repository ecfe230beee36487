/* SPDX-License-Identifier: MIT */
/*
 * Finds requests by their key, operation and first sector, in O(1) expected time. If several
 * requests have the key, the request that was added first is found.
 */
#ifndef UNDERSTUDY_TRACES_OUTSTANDING_H
#define UNDERSTUDY_TRACES_OUTSTANDING_H

#include "../../core/port.h"

/**
 * struct outstanding_request - one request
 * @at: sector in the key; increases when a part of the request completes
 * @left: number of the request's sectors that have not completed
 * @split_off: whether the request is the second part of a split request
 */
struct outstanding_request {
	u64 arrival_ns, dispatch_ns, sector, at;
	u32 sectors, left, owner;
	u8 op;
	bool split_off;
};

struct outstanding_node;
struct outstanding_pool;

/**
 * struct outstanding - a table that grows
 * @nr: number of requests
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

/* May also be called if outstanding_init failed or the table is zeroed. */
void outstanding_exit(struct outstanding *table);

/* Add a request. Its @at must be below 2^63. Returns 0 or -ENOMEM. */
int outstanding_put(struct outstanding *table, const struct outstanding_request *rq);

/* Return the first request with this key, or NULL. The pointer is valid until the table changes. */
const struct outstanding_request *outstanding_find(const struct outstanding *table,
						   u8 op, u64 at);

/* Remove and store the first request with this key; return false if there is none. */
bool outstanding_take(struct outstanding *table, u8 op, u64 at,
		      struct outstanding_request *rq);

#endif
