/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves between a device and an SSE register, which is what compilers and libc copy memory
 * by.  The device is touched in steps of 8 bytes at most, from the lowest address upwards.
 */
#ifndef UNDERSTUDY_VPCIB_VECTOR_H
#define UNDERSTUDY_VPCIB_VECTOR_H

#include "instruction.h"

/**
 * struct vector_move - one of them
 * @prefix: 66, F2, F3, or 0
 * @opcode: after 0F
 * @bytes: moved; 0: 4, or 8 with REX.W
 * @store: to the device
 * @keeps: a load leaves the other half of the register, and others clear the rest
 * @high: in the upper half
 */
struct vector_move {
	u8 prefix;
	u8 opcode;
	u8 bytes;
	bool store;
	bool keeps;
	bool high;
};

/* Which a two-byte instruction is; NULL: none. */
const struct vector_move *vector_move(const struct instruction *in);

/* Carry it out; 0, or -EOPNOTSUPP if the processor has no vectors. */
int vector_emulate(const struct instruction *in, struct processor *cpu, u64 address,
		   struct device_bus *bus);

#endif
