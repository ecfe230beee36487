// SPDX-License-Identifier: MIT
/* A card's registers: single rules by hand, and random cards held against bits. */
#include "bitwise_card.h"

enum { LOW, WIDE, FLAGS, FAR_AWAY, OTHER_BAR, REGISTERS };

static const struct card_register reg[] = {
	[LOW] = { .bar = 0,
		  .offset = 0,
		  .bytes = 2,
		  .reset = 0x1234,
		  .readable = 0xffff,
		  .writable = 0xff00 },
	[WIDE] = { .bar = 0,
		   .offset = 8,
		   .bytes = 8,
		   .reset = 0x1122334455667788,
		   .readable = U64_MAX,
		   .writable = U64_MAX },
	[FLAGS] = { .bar = 0,
		    .offset = 16,
		    .bytes = 4,
		    .reset = 0xf0f0f0f0,
		    .readable = 0x00ffffff,
		    .writable = 0xff000000,
		    .clears = 0x000000ff,
		    .sets = 0x0000ff00,
		    .read_clears = 0x00ff0000 },
	[FAR_AWAY] = { .bar = 0,
		       .offset = (1ull << 40) - 1,
		       .bytes = 1,
		       .reset = 0x5a,
		       .readable = 0xff },
	[OTHER_BAR] = { .bar = 2,
			.offset = 0,
			.bytes = 4,
			.reset = 0xabcd,
			.readable = U32_MAX },
};
static const struct card_interrupt interrupt[] = {
	{ .status_register = FLAGS,
	  .status_bit = 1ull << 31,
	  .enable_register = WIDE,
	  .enable_bit = 1ull << 63,
	  .vector = 31 },
	{ .status_register = LOW,
	  .status_bit = 1,
	  .enable_register = LOW,
	  .enable_bit = 2,
	  .vector = 0 },
	{ .status_register = FLAGS,
	  .status_bit = 1ull << 30,
	  .enable_register = WIDE,
	  .enable_bit = 1ull << 63,
	  .vector = 31 },
};
static const struct card_table table = {
	.nr_registers = REGISTERS,
	.registers = reg,
	.nr_interrupts = ARRAY_SIZE(interrupt),
	.interrupts = interrupt,
};
static u64 values[REGISTERS];
static struct registers registers = { &table, values };

/* The next part is this one. */
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

static void an_access_falls_into_its_parts(void)
{
	struct register_access access = registers_access(&table, 0, 1, 8);
	struct register_part part;

	expect(&access, LOW, -8, 0xff00);
	expect(&access, WIDE, 56, 0xff);
	CHECK(!registers_next(&access, &part));
	access = registers_access(&table, 0, 13, 8);
	expect(&access, WIDE, -40, 0xffffff0000000000);
	expect(&access, FLAGS, 24, 0xffffffff);
	CHECK(!registers_next(&access, &part));
	access = registers_access(&table, 0, 10, 1);
	expect(&access, WIDE, -16, 0xff0000);
	CHECK(!registers_next(&access, &part));
	access = registers_access(&table, 0, 8, 8);
	expect(&access, WIDE, 0, U64_MAX);
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

static void values_move_to_and_from_the_access(void)
{
	struct register_part part = { .shift = -8, .lanes = 0xff00 };

	CHECK_EQ(part_to_access(&part, 0x123456), 0x34);
	CHECK_EQ(part_to_register(&part, 0x123456), 0x5600);
	part = (struct register_part){ .shift = 56, .lanes = 0xff };
	CHECK(part_to_access(&part, 0x123456) == 0x5600000000000000);
	CHECK_EQ(part_to_register(&part, 0x9900000000000077), 0x99);
}

static void a_reset_gives_back_every_value(void)
{
	u32 i;

	memset(values, 0xff, sizeof(values));
	registers_reset(&registers);
	for (i = 0; i < REGISTERS; i++)
		CHECK_EQ(values[i], reg[i].reset);
}

static void a_read_clears_what_it_touches(void)
{
	registers_reset(&registers);
	CHECK_EQ(registers_load(&registers, FLAGS, 0xffff), 0xf0f0);
	CHECK_EQ(values[FLAGS], 0xf0f0f0f0);
	CHECK_EQ(registers_load(&registers, FLAGS, 0xffffff00), 0xf0f000);
	CHECK_EQ(values[FLAGS], 0xf000f0f0);
}

static void a_write_changes_what_it_touches(void)
{
	registers_reset(&registers);
	registers_store(&registers, FLAGS, 0xffffffff, 0xff0000);
	CHECK_EQ(values[FLAGS], 0xf0f0f0f0);
	registers_store(&registers, FLAGS, 0x3c3c3c3c, 0xffffffff);
	CHECK_EQ(values[FLAGS], 0x3cf0fcc0);
	registers_store(&registers, FLAGS, 0, 0xff);
	CHECK_EQ(values[FLAGS], 0x3cf0fcc0);
	registers_store(&registers, LOW, 0xffff, 0xffff);
	CHECK_EQ(values[LOW], 0xff34);
	registers_store(&registers, OTHER_BAR, 0xffffffff, 0xffffffff);
	CHECK_EQ(values[OTHER_BAR], 0xabcd);
}

static void an_interrupt_needs_both_of_its_bits(void)
{
	memset(values, 0, sizeof(values));
	CHECK_EQ(registers_pending(&registers), 0);
	values[FLAGS] = 1ull << 31;
	values[LOW] = 1;
	CHECK_EQ(registers_pending(&registers), 0);
	values[WIDE] = 1ull << 63;
	CHECK_EQ(registers_pending(&registers), 1u << 31);
	values[LOW] = 3;
	CHECK_EQ(registers_pending(&registers), 1u << 31 | 1);
	values[FLAGS] = 1ull << 30;
	CHECK_EQ(registers_pending(&registers), 1u << 31 | 1);
	values[WIDE] = 0;
	CHECK_EQ(registers_pending(&registers), 1);
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
	an_access_falls_into_its_parts();
	nothing_is_where_no_register_is();
	the_ends_of_the_table_are_found();
	values_move_to_and_from_the_access();
	a_reset_gives_back_every_value();
	a_read_clears_what_it_touches();
	a_write_changes_what_it_touches();
	an_interrupt_needs_both_of_its_bits();
	a_card_without_registers();
	check_seeds(300, as_its_bits);
	return 0;
}
