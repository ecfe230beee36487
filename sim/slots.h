/* SPDX-License-Identifier: MIT */
/*
 * Records which entries of an array are in use. Freed entries are reused first. So if at most n
 * entries are ever in use at once, only n entries are ever touched, and the others use no memory.
 */
#ifndef UNDERSTUDY_SLOTS_H
#define UNDERSTUDY_SLOTS_H

#include "../core/port.h"

#define NO_SLOT U32_MAX

/**
 * struct slots - entries 0 to capacity - 1
 * @next: for a freed entry: the entry that was freed before it and is still free
 * @free: the entry that was freed last, or NO_SLOT
 * @fresh: the first entry that was never in use
 * @capacity: number of entries
 */
struct slots {
	u32 *next;
	u32 free;
	u32 fresh;
	u32 capacity;
};

/* Returns 0 or -ENOMEM. */
static inline int slots_init(struct slots *slots, u32 capacity)
{
	*slots = (struct slots){
		.next = port_zalloc(capacity * sizeof(*slots->next)),
		.free = NO_SLOT,
		.capacity = capacity,
	};
	return slots->next ? 0 : -ENOMEM;
}

/* May be called even if init failed or the slots are zeroed. */
static inline void slots_exit(struct slots *slots)
{
	port_free(slots->next);
}

/* Take a free entry; NO_SLOT if there is none. */
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
