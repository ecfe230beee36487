/* SPDX-License-Identifier: MIT */
/*
 * A card as single bits, each with its own rule and without registers;
 * core/cards/registers.c is compared with it.  A program of random bytes becomes
 * registers of all sizes, with gaps between them, and then accesses of all widths and
 * offsets.  Zeros follow the program's last byte.
 */
#ifndef UNDERSTUDY_TEST_BITWISE_CARD_H
#define UNDERSTUDY_TEST_BITWISE_CARD_H

#include "../../core/cards/registers.h"
#include "check.h"

#define BARS 3 /* the middle BAR has no register */
#define BAR_BITS (8 * 32)
#define REGISTERS_MAX (BARS * 64)
#define INTERRUPTS 4

enum rule { RESERVED, RW, RO, WO, W1C, W1S, RC, RULES };

struct program {
	const u8 *byte;
	const u8 *end;
};

static struct {
	struct {
		enum rule rule;
		bool value, reset;
	} bit[BARS][BAR_BITS];
	struct card_register reg[REGISTERS_MAX];
	struct card_interrupt interrupt[INTERRUPTS];
	struct card_table table;
	u64 value[REGISTERS_MAX];
	struct registers registers;
} card;

static inline u32 take(struct program *program, u32 below)
{
	return program->byte < program->end ? *program->byte++ % below : 0;
}

static inline void add_bit(struct card_register *reg, u32 at, struct program *program)
{
	enum rule rule = take(program, RULES);
	u64 mask = 1ull << at;
	u32 place = 8 * reg->offset + at;

	card.bit[reg->bar][place].rule = rule;
	if (rule == RESERVED)
		return;
	card.bit[reg->bar][place].reset = take(program, 2);
	if (card.bit[reg->bar][place].reset)
		reg->reset |= mask;
	if (rule != WO)
		reg->readable |= mask;
	if (rule == RW || rule == WO)
		reg->writable |= mask;
	if (rule == W1C)
		reg->clears |= mask;
	if (rule == W1S)
		reg->sets |= mask;
	if (rule == RC)
		reg->read_clears |= mask;
}

/* Add a register at the offset or a little later; return the end of the register. */
static inline u64 add_register(u32 bar, u64 offset, struct program *program)
{
	u32 bytes = 1u << take(program, 4);
	struct card_register *reg = &card.reg[card.table.nr_registers];
	u32 at;

	offset = (offset + take(program, 3) * bytes + bytes - 1) / bytes * bytes;
	if (offset + bytes > BAR_BITS / 8)
		return BAR_BITS / 8;
	*reg = (struct card_register){ .bar = bar, .offset = offset, .bytes = bytes };
	for (at = 0; at < 8 * bytes; at++)
		add_bit(reg, at, program);
	card.table.nr_registers++;
	return offset + bytes;
}

static inline void add_interrupts(struct program *program)
{
	u32 count = card.table.nr_registers;
	u32 i;

	for (i = 0; i < INTERRUPTS; i++)
		card.interrupt[i] = (struct card_interrupt){
			.status_register = take(program, count),
			.status_bit = 1ull << take(program, 8),
			.enable_register = take(program, count),
			.enable_bit = 1ull << take(program, 8),
			.vector = take(program, 64),
		};
	card.table.interrupts = card.interrupt;
	card.table.nr_interrupts = INTERRUPTS;
}

static inline void reset(void)
{
	u32 bar, i;

	registers_reset(&card.registers);
	for (bar = 0; bar < BARS; bar++) {
		for (i = 0; i < BAR_BITS; i++)
			card.bit[bar][i].value = card.bit[bar][i].reset;
	}
}

static inline void make_card(struct program *program)
{
	u32 bar;
	u64 offset;

	memset(&card, 0, sizeof(card));
	card.table.registers = card.reg;
	card.registers = (struct registers){ &card.table, card.value };
	for (bar = 0; bar < BARS; bar += 2) {
		for (offset = 0; offset < BAR_BITS / 8;)
			offset = add_register(bar, offset, program);
	}
	if (card.table.nr_registers)
		add_interrupts(program);
	reset();
}

/* Return the value of a read, from the bits that exist and that the access touches. */
static inline u64 bitwise_read(u32 bar, u64 offset, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < 8 * bytes && 8 * offset + i < BAR_BITS; i++) {
		u64 place = 8 * offset + i;
		enum rule rule = card.bit[bar][place].rule;

		if (rule != WO && rule != RESERVED && card.bit[bar][place].value)
			value |= 1ull << i;
		if (rule == RC)
			card.bit[bar][place].value = false;
	}
	return value;
}

static inline void bitwise_write(u32 bar, u64 offset, u32 bytes, u64 value)
{
	u32 i;

	for (i = 0; i < 8 * bytes && 8 * offset + i < BAR_BITS; i++) {
		u64 place = 8 * offset + i;
		bool one = value >> i & 1;

		switch (card.bit[bar][place].rule) {
		case RW:
		case WO:
			card.bit[bar][place].value = one;
			break;
		case W1C:
			card.bit[bar][place].value &= !one;
			break;
		case W1S:
			card.bit[bar][place].value |= one;
			break;
		default:
			break;
		}
	}
}

/* Read by the access's parts, and check that they are in order, inside the access and not empty. */
static inline u64 read_by_parts(u32 bar, u64 offset, u32 bytes)
{
	struct register_access access =
		registers_access(&card.table, bar, offset, bytes);
	struct register_part part;
	u32 last = 0, parts = 0;
	u64 value = 0;

	while (registers_next(&access, &part)) {
		u64 seen = registers_load(&card.registers, part.index, part.lanes);

		CHECK(part.lanes && !(seen & ~part.lanes));
		CHECK(!parts++ || part.index > last);
		last = part.index;
		value |= part_to_access(&part, seen);
	}
	CHECK(bytes == 8 || !(value >> 8 * bytes));
	return value;
}

/* Write by the access's parts, which ignore bits outside their lanes. */
static inline void write_by_parts(u32 bar, u64 offset, u32 bytes, u64 value)
{
	struct register_access access =
		registers_access(&card.table, bar, offset, bytes);
	struct register_part part;

	while (registers_next(&access, &part))
		registers_store(&card.registers, part.index,
				part_to_register(&part, value) | ~part.lanes,
				part.lanes);
}

/* The card sets or clears all bits of a register. */
static inline void set_register(u32 index, bool ones)
{
	const struct card_register *reg = &card.reg[index];
	u64 known = reg->readable | reg->writable;
	u32 i;

	card.value[index] = ones ? known : 0;
	for (i = 0; i < 8 * reg->bytes; i++)
		card.bit[reg->bar][8 * reg->offset + i].value =
			ones && (known >> i & 1);
}

static inline bool is_set(u32 index, u64 mask)
{
	const struct card_register *reg = &card.reg[index];
	u32 i = 0;

	while (mask >>= 1)
		i++;
	return i < 8 * reg->bytes && card.bit[reg->bar][8 * reg->offset + i].value;
}

static inline void check_pending(void)
{
	bool vectors[64] = { false };
	u32 i;

	for (i = 0; i < card.table.nr_interrupts; i++) {
		const struct card_interrupt *one = &card.interrupt[i];

		if (is_set(one->status_register, one->status_bit) &&
		    is_set(one->enable_register, one->enable_bit))
			vectors[one->vector] = true;
	}
	for (i = 0; i < 64; i++)
		CHECK_EQ(registers_pending(&card.registers) >> i & 1, vectors[i]);
}

static inline void step(struct program *program)
{
	u32 what = take(program, 16), bar = take(program, BARS);
	u64 offset = take(program, BAR_BITS / 8 + 4), value = 0;
	u32 bytes = 1 + take(program, 8), i;

	if (what < 6) {
		CHECK_EQ(read_by_parts(bar, offset, bytes),
			 bitwise_read(bar, offset, bytes));
	} else if (what < 14) {
		for (i = 0; i < 8; i++)
			value = value << 8 | take(program, 256);
		write_by_parts(bar, offset, bytes, value);
		bitwise_write(bar, offset, bytes, value);
	} else if (what == 14 && card.table.nr_registers) {
		set_register(take(program, card.table.nr_registers), take(program, 2));
	} else {
		reset();
	}
	check_pending();
}

static inline void bitwise_run(const u8 *data, size_t size)
{
	struct program program = { data, data + size };

	make_card(&program);
	while (program.byte < program.end)
		step(&program);
}

#endif
