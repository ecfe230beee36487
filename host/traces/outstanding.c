// SPDX-License-Identifier: MIT
#include "outstanding.h"

#define BUCKETS_MIN 1024
#define POOL_NODES 1024

/**
 * struct outstanding_node - a request in the table
 * @chain: for the first request with a key: the first request of the bucket's next key
 * @same: the next request with the same key
 * @last: for the first request with a key: the last request with the key
 */
struct outstanding_node {
	struct outstanding_request rq;
	struct outstanding_node *chain, *same, *last;
};

struct outstanding_pool {
	struct outstanding_pool *next;
	struct outstanding_node node[POOL_NODES];
};

int outstanding_init(struct outstanding *table)
{
	*table = (struct outstanding){
		.buckets = BUCKETS_MIN,
		.bucket = port_zalloc(BUCKETS_MIN * sizeof(*table->bucket)),
	};
	return table->bucket ? 0 : -ENOMEM;
}

void outstanding_exit(struct outstanding *table)
{
	struct outstanding_pool *pool, *next;

	for (pool = table->pool; pool; pool = next) {
		next = pool->next;
		port_free(pool);
	}
	port_free(table->bucket);
}

/* Multiply and fold twice, so that every bit of the key affects the lowest bits. */
static u64 hash_of(u8 op, u64 at)
{
	u64 hash = (at * 2 + op) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

/*
 * Return the address of the pointer to the first request with the key, or of the NULL pointer at
 * the end of the bucket.
 */
static struct outstanding_node **place_of(const struct outstanding *table, u8 op,
					  u64 at)
{
	struct outstanding_node **place =
		&table->bucket[hash_of(op, at) & (table->buckets - 1)];

	while (*place && ((*place)->rq.at != at || (*place)->rq.op != op))
		place = &(*place)->chain;
	return place;
}

static int add_spares(struct outstanding *table)
{
	struct outstanding_pool *pool = port_zalloc(sizeof(*pool));
	u32 i;

	if (!pool)
		return -ENOMEM;
	for (i = 0; i < POOL_NODES; i++) {
		pool->node[i].chain = table->spare;
		table->spare = &pool->node[i];
	}
	pool->next = table->pool;
	table->pool = pool;
	return 0;
}

static int grow(struct outstanding *table)
{
	struct outstanding bigger = *table;
	struct outstanding_node *node, *next, **bucket;
	u64 i;

	bigger.buckets = 2 * table->buckets;
	bigger.bucket = port_zalloc(bigger.buckets * sizeof(*bigger.bucket));
	if (!bigger.bucket)
		return -ENOMEM;
	for (i = 0; i < table->buckets; i++) {
		for (node = table->bucket[i]; node; node = next) {
			next = node->chain;
			bucket = &bigger.bucket[hash_of(node->rq.op, node->rq.at) &
						(bigger.buckets - 1)];
			node->chain = *bucket;
			*bucket = node;
		}
	}
	port_free(table->bucket);
	*table = bigger;
	return 0;
}

static void append(struct outstanding *table, struct outstanding_node *node)
{
	struct outstanding_node **first = place_of(table, node->rq.op, node->rq.at);

	if (*first) {
		(*first)->last->same = node;
		(*first)->last = node;
		return;
	}
	node->last = node;
	*first = node;
	table->keys++;
}

int outstanding_put(struct outstanding *table, const struct outstanding_request *rq)
{
	struct outstanding_node *node;

	if (!table->spare && add_spares(table))
		return -ENOMEM;
	if (table->keys == table->buckets && grow(table))
		return -ENOMEM;
	node = table->spare;
	table->spare = node->chain;
	*node = (struct outstanding_node){ .rq = *rq };
	append(table, node);
	table->nr++;
	return 0;
}

const struct outstanding_request *outstanding_find(const struct outstanding *table,
						   u8 op, u64 at)
{
	const struct outstanding_node *node = *place_of(table, op, at);

	return node ? &node->rq : NULL;
}

bool outstanding_take(struct outstanding *table, u8 op, u64 at,
		      struct outstanding_request *rq)
{
	struct outstanding_node **first = place_of(table, op, at);
	struct outstanding_node *gone = *first;

	if (!gone)
		return false;
	if (gone->same) {
		gone->same->chain = gone->chain;
		gone->same->last = gone->last;
		*first = gone->same;
	} else {
		*first = gone->chain;
		table->keys--;
	}
	*rq = gone->rq;
	gone->chain = table->spare;
	table->spare = gone;
	table->nr--;
	return true;
}
