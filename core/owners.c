// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "owners.h"

#define NOBODY U32_MAX

static u32 power_of_two_from(u32 n)
{
	u32 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

static u32 *bucket_of(const struct owners *owners, u32 owner)
{
	u32 hash = owner * 0x9e3779b1u;

	return &owners->bucket[(hash ^ hash >> 16) & (owners->buckets - 1)];
}

/*
 * The unused slots form a circular list; the array element after the last slot is the head of that
 * list.
 */

static void list_remove(struct owners *owners, u32 slot)
{
	const struct owner_slot *gone = &owners->slot[slot];

	owners->slot[gone->older].newer = gone->newer;
	owners->slot[gone->newer].older = gone->older;
}

static void list_add_newest(struct owners *owners, u32 slot)
{
	struct owner_slot *joint = &owners->slot[owners->capacity];
	struct owner_slot *newest = &owners->slot[slot];

	newest->older = joint->older;
	newest->newer = owners->capacity;
	owners->slot[joint->older].newer = slot;
	joint->older = slot;
}

int owners_init(struct owners *owners, u32 max_in_use)
{
	u32 i;

	owners->capacity = max_in_use + OWNERS_REMEMBERED;
	owners->buckets = power_of_two_from(owners->capacity);
	owners->slot = port_zalloc((owners->capacity + 1) * sizeof(*owners->slot));
	owners->bucket = port_zalloc(owners->buckets * sizeof(*owners->bucket));
	if (!owners->slot || !owners->bucket) {
		owners_exit(owners);
		return -ENOMEM;
	}
	for (i = 0; i < owners->buckets; i++)
		owners->bucket[i] = NOBODY;
	owners->slot[owners->capacity].older = owners->capacity;
	owners->slot[owners->capacity].newer = owners->capacity;
	for (i = 0; i < owners->capacity; i++)
		list_add_newest(owners, i);
	return 0;
}

void owners_exit(struct owners *owners)
{
	port_free(owners->slot);
	port_free(owners->bucket);
	owners->slot = NULL;
	owners->bucket = NULL;
}

static u32 find(const struct owners *owners, u32 owner)
{
	u32 slot = *bucket_of(owners, owner);

	while (slot != NOBODY && owners->slot[slot].owner != owner)
		slot = owners->slot[slot].bucket_next;
	return slot;
}

static void forget(struct owners *owners, u32 slot)
{
	u32 *link = bucket_of(owners, owners->slot[slot].owner);

	while (*link != slot)
		link = &owners->slot[*link].bucket_next;
	*link = owners->slot[slot].bucket_next;
}

/* Reassign to this owner the slot that has been unused longest. */
static u32 give_away(struct owners *owners, u32 owner)
{
	u32 slot = owners->slot[owners->capacity].newer;
	struct owner_slot *given = &owners->slot[slot];
	u32 *bucket = bucket_of(owners, owner);

	if (given->given)
		forget(owners, slot);
	given->given = true;
	given->owner = owner;
	given->bucket_next = *bucket;
	*bucket = slot;
	return slot;
}

u32 owners_get(struct owners *owners, u32 owner, bool *is_new)
{
	u32 slot = find(owners, owner);

	*is_new = slot == NOBODY;
	if (*is_new)
		slot = give_away(owners, owner);
	owners_hold(owners, slot);
	return slot;
}

void owners_hold(struct owners *owners, u32 slot)
{
	if (!owners->slot[slot].uses++)
		list_remove(owners, slot);
}

void owners_put(struct owners *owners, u32 slot)
{
	if (!--owners->slot[slot].uses)
		list_add_newest(owners, slot);
}
