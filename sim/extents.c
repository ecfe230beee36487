// SPDX-License-Identifier: MIT
#include "extents.h"

/**
 * struct extent - the sectors of a pending request
 * @start: its first sector
 * @end: the sector after its last
 * @next_starting: next extent in the hash chain of its start
 * @next_ending: next extent in the hash chain of its end
 */
struct extent {
	u64 start, end;
	u32 next_starting, next_ending;
	u8 op;
};

int extents_init(struct extents *extents, u32 capacity)
{
	u32 i;

	extents->buckets = 1;
	while (extents->buckets < capacity)
		extents->buckets *= 2;
	extents->extent = port_zalloc(capacity * sizeof(*extents->extent));
	extents->starting = port_zalloc(extents->buckets * sizeof(u32));
	extents->ending = port_zalloc(extents->buckets * sizeof(u32));
	if (!extents->extent || !extents->starting || !extents->ending)
		return -ENOMEM;
	for (i = 0; i < extents->buckets; i++)
		extents->starting[i] = extents->ending[i] = NO_EXTENT;
	return 0;
}

void extents_exit(struct extents *extents)
{
	port_free(extents->ending);
	port_free(extents->starting);
	port_free(extents->extent);
}

/* Multiplying by the golden ratio spreads neighbouring sectors over the chains. */
static u32 *chain_of(const struct extents *extents, u32 *heads, u8 op, u64 sector)
{
	u64 hash = (sector * 2 + op) * 0x9e3779b97f4a7c15ull;

	return &heads[(hash >> 32) & (extents->buckets - 1)];
}

void extents_add(struct extents *extents, u32 number, const struct io_request *rq)
{
	u64 end = request_end(rq);
	u32 *starting = chain_of(extents, extents->starting, rq->op, rq->sector);
	u32 *ending = chain_of(extents, extents->ending, rq->op, end);

	extents->extent[number] = (struct extent){
		.start = rq->sector,
		.end = end,
		.next_starting = *starting,
		.next_ending = *ending,
		.op = rq->op,
	};
	*starting = *ending = number;
}

void extents_remove(struct extents *extents, u32 number)
{
	struct extent *extent = extents->extent;
	struct extent gone = extent[number];
	u32 *link = chain_of(extents, extents->starting, gone.op, gone.start);

	while (*link != number)
		link = &extent[*link].next_starting;
	*link = gone.next_starting;
	link = chain_of(extents, extents->ending, gone.op, gone.end);
	while (*link != number)
		link = &extent[*link].next_ending;
	*link = gone.next_ending;
}

u32 extents_starting_at(const struct extents *extents, u8 op, u64 sector)
{
	const struct extent *extent = extents->extent;
	u32 i = *chain_of(extents, extents->starting, op, sector);

	while (i != NO_EXTENT && (extent[i].start != sector || extent[i].op != op))
		i = extent[i].next_starting;
	return i;
}

u32 extents_ending_at(const struct extents *extents, u8 op, u64 sector)
{
	const struct extent *extent = extents->extent;
	u32 i = *chain_of(extents, extents->ending, op, sector);

	while (i != NO_EXTENT && (extent[i].end != sector || extent[i].op != op))
		i = extent[i].next_ending;
	return i;
}
