/* SPDX-License-Identifier: GPL-2.0 */
/* One access on its way: from the fault that it makes to the card, and into the journal. */
#ifndef UNDERSTUDY_VPCIB_BUS_H
#define UNDERSTUDY_VPCIB_BUS_H

#include "card.h"
#include "instruction.h"

/**
 * struct access_bus - what instruction_emulate is given as its bus
 * @bus: what it calls
 * @card: NULL: it was pulled out
 * @bar: which of its BARs
 * @offset: there, of the address that faulted
 * @address: which that is
 * @ip: of the instruction
 * @user: a process does it, by its own mapping
 * @interrupts: the processor takes them
 * @read_only: who does it may not write; the processor has not looked at that yet if it reads first
 * @refused: a write was not made, for that reason
 * @missing: memory that could not be touched
 */
struct access_bus {
	struct device_bus bus;
	struct vpcib_card *card;
	u32 bar;
	u32 offset;
	unsigned long address;
	unsigned long ip;
	bool user;
	bool interrupts;
	bool read_only;
	bool refused;
	struct {
		unsigned long address;
		u32 bytes;
		unsigned int flags;
	} missing;
};

int bus_init(void);

/* For an access at an address by the code that these registers belong to; without a card yet. */
struct access_bus bus_of(struct pt_regs *regs, unsigned long address);

/* A record of it; there is a card. */
void bus_note(const struct access_bus *at, u8 what, u32 offset, u64 value, u32 bytes);

/* The first bytes of an instruction, as the journal has them. */
static inline u64 code_value(const u8 code[INSTRUCTION_BYTES_MAX])
{
	u64 value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* A write; there is a card, and it is locked. */
void bus_store_locked(struct access_bus *at, u32 offset, u64 value, u32 bytes);

#endif
