/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The register file of a card, and the effects of a driver's loads and stores on it.
 *
 * An access of 1 to 8 bytes at any address of a BAR may touch several registers, or only a part of
 * one. registers_access() and registers_next() split the access into one part for each register,
 * and the host loads or stores each part:
 *
 *	struct register_access access = registers_access(table, bar, offset, bytes);
 *	struct register_part part;
 *	u64 value = 0;
 *
 *	while (registers_next(&access, &part)) {
 *	        if (register_is_loaded(&table->registers[part.index]))
 *	                value |= part_to_access(&part, registers_load(r, part.index, part.lanes));
 *	}
 *
 * Bytes that belong to no register read as 0 and ignore writes. The code that imitates the card
 * reads and writes values[] directly. Concurrent callers need a lock.
 */
#ifndef UNDERSTUDY_REGISTERS_H
#define UNDERSTUDY_REGISTERS_H

#include "card_table.h"

/**
 * struct registers - a card's registers
 * @table: their description
 * @values: one value for each register, in the order of the table; the caller owns the array
 */
struct registers {
	const struct card_table *table;
	u64 *values;
};

/**
 * struct register_part - the part of one register that an access touches
 * @index: index of the register
 * @shift: position in the access of the register's bit 0: -56 to 56
 * @lanes: mask of the register's bits that the access touches: whole bytes, at least one
 */
struct register_part {
	u32 index;
	s32 shift;
	u64 lanes;
};

/* The parts of an access that registers_next() has not yet returned. */
struct register_access {
	const struct card_table *table;
	u32 bar;
	u32 bytes;
	u64 offset;
	u32 next;
};

/* Set every register to its value after a reset. */
void registers_reset(struct registers *registers);

/**
 * registers_access - split an access into parts
 * @table: the card's table
 * @bar: number of the BAR
 * @offset: offset of the first byte in the BAR; any value
 * @bytes: 1 to 8
 *
 * Return: the access, whose parts registers_next() returns
 */
struct register_access registers_access(const struct card_table *table, u32 bar,
					u64 offset, u32 bytes);

/*
 * Write the next part of the access to *part, in order of address. Return false if there are no
 * more parts.
 */
bool registers_next(struct register_access *access, struct register_part *part);

/* Return whether a load takes its value from the register, or a store goes to it. */
static inline bool register_is_loaded(const struct card_register *reg)
{
	return reg->side != REGISTER_STORED;
}

static inline bool register_is_stored(const struct card_register *reg)
{
	return reg->side != REGISTER_LOADED;
}

/* Shift bits of a register to their position in the access. */
static inline u64 part_to_access(const struct register_part *part, u64 value)
{
	value &= part->lanes;
	return part->shift < 0 ? value >> -part->shift : value << part->shift;
}

/* Shift written bits of an access to their position in the register. */
static inline u64 part_to_register(const struct register_part *part, u64 value)
{
	value = part->shift < 0 ? value << -part->shift : value >> part->shift;
	return value & part->lanes;
}

/**
 * registers_load - carry out a driver's read of a register
 * @registers: the card's registers
 * @index: index of the register
 * @lanes: bits to read; of these, the load clears the read-clear bits, and sets the read-set bits
 *
 * Return: the register's value before that; 0 in unreadable bits and in bits outside @lanes
 */
u64 registers_load(struct registers *registers, u32 index, u64 lanes);

/**
 * registers_store - carry out a driver's write to a register
 * @registers: the card's registers
 * @index: index of the register
 * @value: the value to write, aligned with the register's bits
 * @lanes: bits to write; all other bits keep their value
 */
void registers_store(struct registers *registers, u32 index, u64 value, u64 lanes);

/* Return whether an interrupt's status bit and its enable bit, if it has one, are both set. */
bool registers_interrupts(const struct registers *registers,
			  const struct card_interrupt *interrupt);

/* Return a mask of the vectors of all such interrupts. */
u64 registers_pending(const struct registers *registers);

#endif
