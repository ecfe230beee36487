// SPDX-License-Identifier: MIT
/*
 * Owners and their slots against a naive implementation that searches all slots.
 */
#include "../../core/owners.h"
#include "check.h"

#define IN_USE 20
#define SLOTS (IN_USE + OWNERS_REMEMBERED)

static struct owners owners;

/* The naive implementation: a slot, and when it was last released. */
static struct naive {
	u32 owner;
	u32 uses;
	u64 since;
	bool given;
} naive[SLOTS];
static u64 naive_time;

static void naive_init(void)
{
	u32 i;

	naive_time = 0;
	for (i = 0; i < SLOTS; i++)
		naive[i] = (struct naive){ .since = naive_time++ };
}

static u32 naive_get(u32 owner, bool *is_new)
{
	u32 oldest = SLOTS;
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		*is_new = !(naive[i].given && naive[i].owner == owner);
		if (!*is_new)
			break;
		if (!naive[i].uses &&
		    (oldest == SLOTS || naive[i].since < naive[oldest].since))
			oldest = i;
	}
	if (*is_new)
		i = oldest;
	naive[i].given = true;
	naive[i].owner = owner;
	naive[i].uses++;
	return i;
}

static void get(u32 owner, u32 *held, u32 *nr_held)
{
	bool is_new;
	bool expected_new;
	u32 expected = naive_get(owner, &expected_new);

	held[*nr_held] = owners_get(&owners, owner, &is_new);
	CHECK_EQ(held[*nr_held], expected);
	CHECK_EQ(is_new, expected_new);
	++*nr_held;
}

static void put(u32 slot)
{
	owners_put(&owners, slot);
	if (!--naive[slot].uses)
		naive[slot].since = naive_time++;
}

static void random_case(struct draw *draw)
{
	u32 people = 1 + draw_below(draw, 3 * SLOTS);
	u32 held[IN_USE];
	u32 nr_held = 0;
	u32 i;

	CHECK_EQ(owners_init(&owners, IN_USE), 0);
	naive_init();
	for (i = 0; i < 4000; i++) {
		u32 k = nr_held ? draw_below(draw, nr_held) : 0;

		if (nr_held < IN_USE && draw_below(draw, 2)) {
			get(draw_below(draw, people) * 0x10001u, held, &nr_held);
		} else if (nr_held && nr_held < IN_USE && !draw_below(draw, 4)) {
			owners_hold(&owners, held[k]);
			naive[held[k]].uses++;
			held[nr_held++] = held[k];
		} else if (nr_held) {
			put(held[k]);
			held[k] = held[--nr_held];
		}
	}
	owners_exit(&owners);
}

static void no_memory(void)
{
	u32 granted;

	for (granted = 0; granted < 2; granted++) {
		port_grant(granted);
		CHECK_EQ(owners_init(&owners, IN_USE), -ENOMEM);
		port_grant(U32_MAX);
		owners_exit(&owners);
	}
}

int main(void)
{
	no_memory();
	check_seeds(40, random_case);
	return 0;
}
