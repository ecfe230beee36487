/* SPDX-License-Identifier: GPL-2.0 */
/* The arithmetic of instructions: results and flags. */
#ifndef UNDERSTUDY_VPCIB_COMPUTE_H
#define UNDERSTUDY_VPCIB_COMPUTE_H

#include "../../core/port.h"

enum operation {
	/* numbered as in bits 5:3 of an opcode or of its ModR/M */
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
	/* numbered as in bits 5:3 of the ModR/M of C0 to D3 */
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
 * @operation: the operation
 * @a: the changed operand
 * @b: the other operand; operations of one operand ignore it
 * @bytes: of both: 1, 2, 4 or 8, and not 1 to multiply
 * @flags: RFLAGS; flags that the operation sets or leaves undefined become as the processor sets
 *   them, others stay
 *
 * Return: the result.  TEST and COMPARE return it too, as AND and SUB do.
 */
u64 compute(enum operation operation, u64 a, u64 b, u32 bytes, unsigned long *flags);

#endif
