/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a drive has taken into its cache and not yet put away: spans of sectors that were
 * written, and the one that is on its way to the medium (Ruemmler and Wilkes 1994,
 * "Write caching").
 */
#ifndef UNDERSTUDY_WRITE_CACHE_H
#define UNDERSTUDY_WRITE_CACHE_H

#include "../port.h"

#define WRITE_CACHE_SPANS_MAX 256

/*
 * In which order a drive destages: the one that is soonest under its head; upwards from its head
 * and then from the lowest again; or as they come, each by itself, and the arm goes while the data
 * still come over the bus.  The other two join a write to the one that it follows.
 */
enum write_order {
	WRITE_SHORTEST_POSITIONING,
	WRITE_ASCENDING,
	WRITE_AS_THEY_COME,
};

/**
 * struct write_span - sectors [start, end)
 * @place: where the arm is for the first of them (core/drive/platter.h)
 * @angle: where on the turn that begins, if angles are known
 */
struct write_span {
	u64 start, end;
	u64 place;
	u64 angle;
};

/**
 * struct write_cache - usable when zeroed: every write goes to the medium
 * @spans_max: most spans, with the one under way, 0 to WRITE_CACHE_SPANS_MAX
 * @sectors_max: most sectors in all
 * @idle_ns: how long the drive has had nothing to do before it begins to put away
 * @order: enum write_order
 * @nr: how many wait
 * @sectors: in those and in the one under way
 * @span: those that wait, in the order in which they came
 * @under_way: on its way to the medium until @busy_until_ns
 * @medium_ns: when the medium begins with it; until then it can be made longer
 * @busy_until_ns: the arm is free from then on
 *
 * The first four are parameters.
 */
struct write_cache {
	u64 spans_max;
	u64 sectors_max;
	u64 idle_ns;
	u64 order;
	u32 nr;
	u64 sectors;
	struct write_span span[WRITE_CACHE_SPANS_MAX];
	struct write_span under_way;
	u64 medium_ns;
	u64 busy_until_ns;
};

/* Is one on its way to the medium? */
bool write_cache_is_busy(const struct write_cache *cache);

/* Is there room for these, as another span?  As they come, the first write that follows the one under
 * way shares its room. */
bool write_cache_has_room(const struct write_cache *cache, u64 sector, u64 sectors);

/* Make one that waits longer by a write that begins where it ends: whether there is one to join. */
bool write_cache_join(struct write_cache *cache, u64 sector, u64 sectors);

/* There must be room. */
void write_cache_add(struct write_cache *cache, struct write_span span);

/* Whose turn it is, not by angle: an index.  One must wait. */
u32 write_cache_next(const struct write_cache *cache, u64 head);

/* Take it out of those that wait. */
struct write_span write_cache_take(struct write_cache *cache, u32 index);

/* Of those that wait, one that holds the whole span; NULL if none does. */
const struct write_span *write_cache_holds(const struct write_cache *cache, u64 sector,
					   u64 sectors);

/* Does one that waits overlap it? */
bool write_cache_touches(const struct write_cache *cache, u64 sector, u64 sectors);

/* Forget everything; parameters stay. */
void write_cache_clear(struct write_cache *cache);

#endif
