/* SPDX-License-Identifier: MIT */
/*
 * Finds requests by operation and first sector, in O(1) expected time; of several with the same
 * key, the one that was added first.
 */
#ifndef UNDERSTUDY_TRACES_OUTSTANDING_H
#define UNDERSTUDY_TRACES_OUTSTANDING_H

#include "../../core/port.h"

/**
 * struct outstanding_request - one request
 * @at: the sector by which it is found; increases when a part of the request completes
 * @left: number of its sectors that have not completed
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

/* Valid also if init failed or the table is zeroed. */
void outstanding_exit(struct outstanding *table);

/* Add a request, whose @at must be below 2^63. Returns 0 or -ENOMEM. */
int outstanding_put(struct outstanding *table, const struct outstanding_request *rq);

/* The first request with this key, or NULL; valid until the table changes. */
const struct outstanding_request *outstanding_find(const struct outstanding *table,
						   u8 op, u64 at);

/* Remove that request; false if there is none. */
bool outstanding_take(struct outstanding *table, u8 op, u64 at,
		      struct outstanding_request *rq);

#endif
