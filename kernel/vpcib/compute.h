/* SPDX-License-Identifier: GPL-2.0 */
/* Computes the results and flags of arithmetic instructions. */
#ifndef UNDERSTUDY_VPCIB_COMPUTE_H
#define UNDERSTUDY_VPCIB_COMPUTE_H

#include "../../core/port.h"

enum operation {
	/* numbered as in bits 5:3 of an opcode or of the ModR/M byte */
	ADD,
	OR,
	ADC,
	SBB,
	AND,
	SUB,
	XOR,
	COMPARE,
	/* not numbered as in opcodes */
	TEST,
	INCREMENT,
	DECREMENT,
	NEGATE,
	MULTIPLY,
	/* numbered as in bits 5:3 of the ModR/M byte after opcodes C0 to D3 */
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
 * compute - compute "a OPERATION b" and the flags
 * @operation: the operation
 * @a: the operand that the operation changes
 * @b: the other operand; operations with one operand ignore it
 * @bytes: size of both operands: 1, 2, 4 or 8; not 1 for a multiplication
 * @flags: RFLAGS.  Flags that the operation sets or leaves undefined get the processor's values;
 *   all other flags remain.
 *
 * Return: the result.  For TEST the result is that of AND, and for COMPARE that of SUB.
 */
u64 compute(enum operation operation, u64 a, u64 b, u32 bytes, unsigned long *flags);

#endif
