/* SPDX-License-Identifier: GPL-2.0 */
/* A driver's access to a card: from the fault to the card and into the journal. */
#ifndef UNDERSTUDY_VPCIB_BUS_H
#define UNDERSTUDY_VPCIB_BUS_H

#include "card.h"
#include "instruction.h"

/**
 * struct access_bus - the data of an access, with the bus for instruction_emulate
 * @bus: the callbacks for instruction_emulate
 * @card: NULL if the card was removed
 * @bar: number of the BAR that was accessed
 * @offset: offset of the faulting address in the BAR
 * @address: the faulting address
 * @ip: address of the instruction
 * @user: whether a process accesses the card, through its own mapping
 * @interrupts: the processor accepts interrupts
 * @read_only: whether the mapping does not allow writes by this code.  The processor has not
 *   checked this if the instruction reads before it writes.
 * @refused: whether a write was refused because of @read_only
 * @missing: address of ordinary memory that could not be accessed
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

/*
 * Returns the bus for an access to `address` by code with these registers.  The caller must set the
 * field `card`.
 */
struct access_bus bus_of(struct pt_regs *regs, unsigned long address);

/* Writes a record of the access to the journal.  The card must exist. */
void bus_note(const struct access_bus *at, u8 what, u32 offset, u64 value, u32 bytes);

/* Returns the first bytes of an instruction as a value for the journal. */
static inline u64 code_value(const u8 code[INSTRUCTION_BYTES_MAX])
{
	u64 value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* Makes the faults that an access to a register may have.  The card is locked. */
void bus_suffer(struct vpcib_card *card);

bool bus_is_answered(const struct vpcib_card *card, u32 bar);

/* Writes to the card, which must exist and be locked. */
void bus_store_locked(struct access_bus *at, u32 offset, u64 value, u32 bytes);

#endif
