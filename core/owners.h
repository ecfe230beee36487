/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Owners of requests: a map from the ids of processes to slots, which are small numbers. A
 * scheduler uses an owner's slot as the index of its data about that owner.
 *
 * A slot is in use from owners_get() to owners_put(); these calls nest. A slot that is not in use
 * still belongs to its owner until a new owner needs a slot. Then the slot that has been unused
 * longest is reassigned. There is always an unused slot as long as at most max_in_use slots (see
 * owners_init()) are in use.
 *
 * All operations take O(1) expected time. The assignment of slots depends only on the sequence of
 * calls.
 */
#ifndef UNDERSTUDY_OWNERS_H
#define UNDERSTUDY_OWNERS_H

#include "port.h"

/* At least this many owners are remembered while their slots are unused. */
#define OWNERS_REMEMBERED 1024

/**
 * struct owner_slot - one owner
 * @owner: the owner's id
 * @uses: number of uses of the slot
 * @bucket_next: the next slot with the same hash
 * @older: the next slot that has been unused for longer; only valid if this slot is unused
 * @newer: the next slot that has been unused for less long; only valid if this slot is unused
 * @given: the slot has been assigned to an owner at least once
 */
struct owner_slot {
	u32 owner;
	u32 uses;
	u32 bucket_next;
	u32 older, newer;
	bool given;
};

/**
 * struct owners - all owners
 * @slot: @capacity slots, and one more that is the head of the list of unused slots
 * @bucket: heads of the lists of slots with the same hash
 * @capacity: number of slots
 * @buckets: number of buckets, a power of two
 */
struct owners {
	struct owner_slot *slot;
	u32 *bucket;
	u32 capacity;
	u32 buckets;
};

/* Set up for at most max_in_use slots in use at once. Return 0 or -ENOMEM. */
int owners_init(struct owners *owners, u32 max_in_use);

/* May be called even if owners_init() failed or the struct is zeroed. */
void owners_exit(struct owners *owners);

/*
 * Return the owner's slot, and begin a use of it. Set *is_new to whether the slot was just assigned
 * to this owner.
 */
u32 owners_get(struct owners *owners, u32 owner, bool *is_new);

/* Begin another use of a slot. */
void owners_hold(struct owners *owners, u32 slot);

/* End a use of a slot. */
void owners_put(struct owners *owners, u32 slot);

#endif
