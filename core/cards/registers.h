/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The register file of a card: what loads and stores of a driver do to it.
 *
 * An access of 1 to 8 bytes at any address of a BAR touches several registers, or a part
 * of one.  registers_access() and registers_next() take it apart, and the host does to
 * each part what the access is:
 *
 *	struct register_access access = registers_access(table, bar, offset, bytes);
 *	struct register_part part;
 *	u64 value = 0;
 *
 *	while (registers_next(&access, &part))
 *		value |= part_to_access(&part, registers_load(r, part.index, part.lanes));
 *
 * Bytes that no register has read as 0 and take nothing.  The card's own side reads and
 * writes values[] as it likes.  Whoever calls holds a lock, if there are several.
 */
#ifndef UNDERSTUDY_REGISTERS_H
#define UNDERSTUDY_REGISTERS_H

#include "card_table.h"

/**
 * struct registers - a card's registers
 * @table: what they are
 * @values: one each, in the order of the table; memory of the caller
 */
struct registers {
	const struct card_table *table;
	u64 *values;
};

/**
 * struct register_part - what an access touches of one register
 * @index: which register
 * @shift: bit 0 of the register is this bit of the access: -56 to 56
 * @lanes: bits of the register that it touches, whole bytes, never none
 */
struct register_part {
	u32 index;
	s32 shift;
	u64 lanes;
};

/* The parts of an access that are still to come. */
struct register_access {
	const struct card_table *table;
	u32 bar;
	u32 bytes;
	u64 offset;
	u32 next;
};

/* Every register has its value after a reset. */
void registers_reset(struct registers *registers);

/**
 * registers_access - take an access apart
 * @table: the card's
 * @bar: number of the BAR
 * @offset: first byte, from the start of the BAR; any
 * @bytes: 1 to 8
 *
 * Return: the access, with all its parts to come
 */
struct register_access registers_access(const struct card_table *table, u32 bar,
					u64 offset, u32 bytes);

/* The next part, from the lowest address upwards; false: there is none. */
bool registers_next(struct register_access *access, struct register_part *part);

/* Bits of a register, where the access has them. */
static inline u64 part_to_access(const struct register_part *part, u64 value)
{
	value &= part->lanes;
	return part->shift < 0 ? value >> -part->shift : value << part->shift;
}

/* What an access writes, where the register has it. */
static inline u64 part_to_register(const struct register_part *part, u64 value)
{
	value = part->shift < 0 ? value << -part->shift : value >> part->shift;
	return value & part->lanes;
}

/**
 * registers_load - a driver reads
 * @registers: the card's
 * @index: which register
 * @lanes: bits of it that are read; those that a read clears are cleared
 *
 * Return: the value before that, where the register has it; 0 outside the lanes and where
 *	nothing can be read
 */
u64 registers_load(struct registers *registers, u32 index, u64 lanes);

/**
 * registers_store - a driver writes
 * @registers: the card's
 * @index: which register
 * @value: what, where the register has it
 * @lanes: bits of it that are written; others stay as they are
 */
void registers_store(struct registers *registers, u32 index, u64 value, u64 lanes);

/* The vectors, as bits, of the interrupts whose status and enable bits are both set. */
u32 registers_pending(const struct registers *registers);

#endif
