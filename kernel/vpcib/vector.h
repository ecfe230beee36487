/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves between a device and an SSE register.  Compilers and libc copy memory with them.  The
 * device is accessed in steps of 8 bytes at most, from the lowest address upwards.
 */
#ifndef UNDERSTUDY_VPCIB_VECTOR_H
#define UNDERSTUDY_VPCIB_VECTOR_H

#include "instruction.h"

/**
 * struct vector_move - a move instruction
 * @prefix: 66, F2, F3, or 0
 * @opcode: after 0F
 * @bytes: size of the move; 0: 4, or 8 with REX.W
 * @store: a move to the device
 * @keeps: a load keeps the other half of the register; other loads clear the rest
 * @high: uses the upper half of the register
 */
struct vector_move {
	u8 prefix;
	u8 opcode;
	u8 bytes;
	bool store;
	bool keeps;
	bool high;
};

/* The move that a two-byte instruction is; NULL: none. */
const struct vector_move *vector_move(const struct instruction *in);

/* Carries out the move.  Returns 0, or -EOPNOTSUPP if the processor has no vectors. */
int vector_emulate(const struct instruction *in, struct processor *cpu, u64 address,
		   struct device_bus *bus);

#endif
