/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes moves between a device and an SSE register.  Compilers and libc use such moves to copy
 * memory.  The device is accessed in steps of at most 8 bytes, in ascending order of addresses.
 */
#ifndef UNDERSTUDY_VPCIB_VECTOR_H
#define UNDERSTUDY_VPCIB_VECTOR_H

#include "instruction.h"

/**
 * struct vector_move - a move instruction
 * @prefix: 66, F2, F3, or 0
 * @opcode: the opcode byte after 0F
 * @bytes: size of the move; 0 means 4, or 8 with REX.W
 * @store: whether the move goes to the device
 * @keeps: whether a load keeps the other half of the register.  If false, a load clears the part
 *   that is not loaded.
 * @high: whether the move uses the upper half of the register
 */
struct vector_move {
	u8 prefix;
	u8 opcode;
	u8 bytes;
	bool store;
	bool keeps;
	bool high;
};

/* Returns the move that a two-byte instruction does, or NULL if the instruction is not a move. */
const struct vector_move *vector_move(const struct instruction *in);

/* Executes the move.  Returns 0, or -EOPNOTSUPP if SSE registers are not available. */
int vector_emulate(const struct instruction *in, struct processor *cpu, u64 address,
		   struct device_bus *bus);

#endif
