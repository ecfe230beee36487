/* SPDX-License-Identifier: GPL-2.0 */
/* What instructions do to two numbers, and to the flags. */
#ifndef UNDERSTUDY_VPCIB_COMPUTE_H
#define UNDERSTUDY_VPCIB_COMPUTE_H

#include "../../core/port.h"

enum operation {
	/* as bits 5:3 of an opcode or of its ModR/M number them */
	ADD,
	OR,
	ADC,
	SBB,
	AND,
	SUB,
	XOR,
	COMPARE,
	/* and the others */
	TEST,
	INCREMENT,
	DECREMENT,
	NEGATE,
	MULTIPLY,
	/* as bits 5:3 of the ModR/M of C0 to D3 number them */
	ROTATE_LEFT,
	ROTATE_RIGHT,
	ROTATE_LEFT_THROUGH_CARRY,
	ROTATE_RIGHT_THROUGH_CARRY,
	SHIFT_LEFT,
	SHIFT_RIGHT,
	SHIFT_LEFT_TOO,
	SHIFT_SIGNED,
};

/**
 * compute - a OPERATION b
 * @operation: which
 * @a: what is changed
 * @b: by what; those of one operand don't look at it
 * @bytes: of both: 1, 2, 4 or 8, and not 1 to multiply
 * @flags: RFLAGS; those that the operation sets or leaves undefined are as the processor has
 *	them, and others stay
 *
 * Return: the result, of TEST and COMPARE too, which are AND and SUB
 */
u64 compute(enum operation operation, u64 a, u64 b, u32 bytes, unsigned long *flags);

#endif
