// SPDX-License-Identifier: MIT
/* A card's registers: random cards compared with single bits, and limits checked by hand. */
#include "bitwise_card.h"

enum { LOW, WIDE, FLAGS, FAR_AWAY, OTHER_BAR, REGISTERS };

static const struct card_register reg[] = {
	[LOW] = { .bar = 0, .offset = 0, .bytes = 2 },
	[WIDE] = { .bar = 0, .offset = 8, .bytes = 8 },
	[FLAGS] = { .bar = 0, .offset = 16, .bytes = 4 },
	[FAR_AWAY] = { .bar = 0, .offset = (1ull << 40) - 1, .bytes = 1 },
	[OTHER_BAR] = { .bar = 2, .offset = 0, .bytes = 4 },
};
static const struct card_table table = { .nr_registers = REGISTERS, .registers = reg };

/* Expect the next part to be this one. */
static void expect(struct register_access *access, u32 index, s32 shift, u64 lanes)
{
	struct register_part part;

	CHECK(registers_next(access, &part));
	CHECK_EQ(part.index, index);
	CHECK_EQ(part.shift, shift);
	CHECK_EQ(part.lanes, lanes);
}

static void expect_none(u32 bar, u64 offset, u32 bytes)
{
	struct register_access access = registers_access(&table, bar, offset, bytes);
	struct register_part part;

	CHECK(!registers_next(&access, &part));
}

static void nothing_is_where_no_register_is(void)
{
	expect_none(0, 2, 6);
	expect_none(0, 20, 8);
	expect_none(0, 1ull << 40, 8);
	expect_none(0, U64_MAX, 8);
	expect_none(1, 0, 8);
	expect_none(2, 4, 8);
	expect_none(3, 0, 8);
	expect_none(U32_MAX, U64_MAX, 8);
}

static void the_ends_of_the_table_are_found(void)
{
	struct register_access access =
		registers_access(&table, 0, (1ull << 40) - 8, 8);
	struct register_part part;

	expect(&access, FAR_AWAY, 56, 0xff);
	CHECK(!registers_next(&access, &part));
	access = registers_access(&table, 2, 3, 8);
	expect(&access, OTHER_BAR, -24, 0xff000000);
	CHECK(!registers_next(&access, &part));
}

static void a_card_without_registers(void)
{
	const struct card_table none = { .nr_registers = 0 };
	struct registers empty = { &none, NULL };
	struct register_access access = registers_access(&none, 0, 0, 8);
	struct register_part part;

	registers_reset(&empty);
	CHECK(!registers_next(&access, &part));
	CHECK_EQ(registers_pending(&empty), 0);
}

static void as_its_bits(struct draw *draw)
{
	u8 data[6000];
	u32 i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = draw_u64(draw);
	bitwise_run(data, sizeof(data));
}

int main(void)
{
	nothing_is_where_no_register_is();
	the_ends_of_the_table_are_found();
	a_card_without_registers();
	check_seeds(300, as_its_bits);
	return 0;
}
