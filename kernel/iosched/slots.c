// SPDX-License-Identifier: GPL-2.0
/* The slots for a disk's pending and dispatched requests. */
#include "iosched.h"

/*
 * Frees a slot.  The slot that has been free longest is reused first, so a scheduler that returns
 * an old request is detected.
 */
void slot_put(struct iosched *is, struct slot *slot)
{
	slot->next_free = NULL;
	*is->free_end = slot;
	is->free_end = &slot->next_free;
}

struct slot *slot_take(struct iosched *is)
{
	struct slot *slot = is->free;

	if (!slot)
		return NULL;
	is->free = slot->next_free;
	if (!is->free)
		is->free_end = &is->free;
	return slot;
}

void free_slot(struct iosched *is, struct slot *slot)
{
	slot->rq->elv.priv[0] = NULL;
	slot->rq = NULL;
	slot_put(is, slot);
}
