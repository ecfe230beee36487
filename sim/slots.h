/* SPDX-License-Identifier: MIT */
/*
 * Which entries of an array are in use.  One that was given back is taken first, so that
 * those beyond what was ever in use at once are never touched, and cost no memory.
 */
#ifndef UNDERSTUDY_SLOTS_H
#define UNDERSTUDY_SLOTS_H

#include "../core/port.h"

#define NO_SLOT U32_MAX

/**
 * struct slots - entries 0 to capacity - 1
 * @next: of a free entry that was in use: the one that was free before it
 * @free: the last one given back, or NO_SLOT
 * @fresh: the first one that was never in use
 * @capacity: how many
 */
struct slots {
	u32 *next;
	u32 free;
	u32 fresh;
	u32 capacity;
};

/* 0 or -ENOMEM. */
static inline int slots_init(struct slots *slots, u32 capacity)
{
	*slots = (struct slots){
		.next = port_zalloc(capacity * sizeof(*slots->next)),
		.free = NO_SLOT,
		.capacity = capacity,
	};
	return slots->next ? 0 : -ENOMEM;
}

/* Also fit for one whose init failed, or that is zeroed. */
static inline void slots_exit(struct slots *slots)
{
	port_free(slots->next);
}

/* A free one, or NO_SLOT. */
static inline u32 slots_take(struct slots *slots)
{
	u32 slot = slots->free;

	if (slot != NO_SLOT)
		slots->free = slots->next[slot];
	else if (slots->fresh < slots->capacity)
		slot = slots->fresh++;
	return slot;
}

static inline void slots_give(struct slots *slots, u32 slot)
{
	slots->next[slot] = slots->free;
	slots->free = slot;
}

#endif
