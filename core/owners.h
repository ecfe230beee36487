/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Who asks: numbers of processes become small numbers, slots, by which a scheduler
 * finds what it knows of each.
 *
 * A slot is in use from owners_get to owners_put, which nest.  A slot that is not
 * in use still belongs to its owner, until a new owner needs one: then the slot that
 * has been out of use longest is given away.  There is always one to give if no
 * more slots are in use than owners_init was told.
 *
 * Everything takes O(1) expected time, and the slots depend on the calls alone.
 */
#ifndef UNDERSTUDY_OWNERS_H
#define UNDERSTUDY_OWNERS_H

#include "port.h"

/* Owners out of use that are remembered at least. */
#define OWNERS_REMEMBERED 1024

/**
 * struct owner_slot - one owner
 * @owner: its number
 * @uses: how often it is in use
 * @bucket_next: the next slot with the same hash
 * @older: out of use for longer, and @newer: for less long; both only if not in use
 * @given: to somebody, ever?
 */
struct owner_slot {
	u32 owner;
	u32 uses;
	u32 bucket_next;
	u32 older, newer;
	bool given;
};

/**
 * struct owners - all of them
 * @slot: @capacity slots, and one that joins the ends of the list of those out of use
 * @bucket: heads of the lists of slots with the same hash
 * @capacity: how many slots
 * @buckets: how many, a power of two
 */
struct owners {
	struct owner_slot *slot;
	u32 *bucket;
	u32 capacity;
	u32 buckets;
};

/* At most so many will be in use at once.  0 or -ENOMEM. */
int owners_init(struct owners *owners, u32 max_in_use);

/* Also fit for owners whose init failed, or that are zeroed. */
void owners_exit(struct owners *owners);

/* The owner's slot, in use from now on; *is_new if it was not his before. */
u32 owners_get(struct owners *owners, u32 owner, bool *is_new);

/* One more use of a slot. */
void owners_hold(struct owners *owners, u32 slot);

/* One use less. */
void owners_put(struct owners *owners, u32 slot);

#endif
