// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "registers.h"

void registers_reset(struct registers *registers)
{
	const struct card_table *table = registers->table;
	u32 i;

	for (i = 0; i < table->nr_registers; i++)
		registers->values[i] = table->registers[i].reset;
}

/*
 * Return whether the register ends before this byte of this BAR, or is in a BAR with a lower
 * number.
 */
static bool is_before(const struct card_register *reg, u32 bar, u64 offset)
{
	if (reg->bar != bar)
		return reg->bar < bar;
	return reg->offset + reg->bytes <= offset;
}

struct register_access registers_access(const struct card_table *table, u32 bar,
					u64 offset, u32 bytes)
{
	u32 low = 0, high = table->nr_registers;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (is_before(&table->registers[middle], bar, offset))
			low = middle + 1;
		else
			high = middle;
	}
	return (struct register_access){ .table = table,
					 .bar = bar,
					 .bytes = bytes,
					 .offset = offset,
					 .next = low };
}

static u64 bytes_mask(u32 bytes)
{
	return U64_MAX >> (64 - 8 * bytes);
}

bool registers_next(struct register_access *access, struct register_part *part)
{
	const struct card_register *reg = access->table->registers + access->next;
	u32 into; /* bytes between the start of the access and the start of the register */

	if (access->next == access->table->nr_registers || reg->bar != access->bar)
		return false;
	part->index = access->next;
	if (reg->offset >= access->offset) {
		if (reg->offset - access->offset >= access->bytes)
			return false;
		into = reg->offset - access->offset;
		part->shift = 8 * into;
		part->lanes = bytes_mask(access->bytes - into);
	} else {
		into = access->offset - reg->offset;
		part->shift = -8 * (s32)into;
		part->lanes = bytes_mask(access->bytes) << 8 * into;
	}
	part->lanes &= bytes_mask(reg->bytes);
	access->next++;
	return true;
}

u64 registers_load(struct registers *registers, u32 index, u64 lanes)
{
	const struct card_register *reg = &registers->table->registers[index];
	u64 *value = &registers->values[index];
	u64 seen = *value & reg->readable & lanes;

	*value = (*value & ~(reg->read_clears & lanes)) | (reg->read_sets & lanes);
	return seen;
}

void registers_store(struct registers *registers, u32 index, u64 value, u64 lanes)
{
	const struct card_register *reg = &registers->table->registers[index];
	u64 taken = reg->writable & lanes;
	u64 acts = ((value ^ reg->at_zero) | reg->always) & lanes;
	u64 old = registers->values[index];

	old &= ~(taken | (acts & reg->clears));
	old |= (taken & value) | (acts & reg->sets);
	registers->values[index] = old ^ (acts & reg->toggles);
}

bool registers_interrupts(const struct registers *registers,
			  const struct card_interrupt *interrupt)
{
	u64 status = registers->values[interrupt->status_register];
	u64 enable = registers->values[interrupt->enable_register];

	return (status & interrupt->status_bit) &&
	       (!interrupt->enable_bit || (enable & interrupt->enable_bit));
}

u64 registers_pending(const struct registers *registers)
{
	const struct card_table *table = registers->table;
	u64 vectors = 0;
	u32 i;

	for (i = 0; i < table->nr_interrupts; i++) {
		const struct card_interrupt *one = &table->interrupts[i];

		if (registers_interrupts(registers, one))
			vectors |= 1ull << one->vector;
	}
	return vectors;
}
