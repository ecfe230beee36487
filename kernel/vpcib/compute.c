// SPDX-License-Identifier: GPL-2.0
/* Computes results and flags by running the same operation on the processor. */
#include "compute.h"

#define ARITHMETIC_FLAGS 0x8d5ul /* OF SF ZF AF PF CF */
#define OVERFLOW_BIT 11

/*
 * SAHF sets all these flags except the overflow flag.  No operation here uses the overflow flag as
 * an input.  LAHF and SETO read the flags after the operation.
 */
#define COMPUTE(words, type)                                 \
	do {                                                 \
		type x = (type)a, y = (type)b;               \
		asm("sahf\n\t" words "\n\tlahf\n\tseto %%al" \
		    : [x] "+r"(x), "+a"(said)                \
		    : [y] "c"(y)                             \
		    : "cc");                                 \
		result = x;                                  \
	} while (0)

#define COMPUTE_WORDS(words)                 \
	do {                                 \
		if (bytes == 2)              \
			COMPUTE(words, u16); \
		else if (bytes == 4)         \
			COMPUTE(words, u32); \
		else                         \
			COMPUTE(words, u64); \
	} while (0)

#define COMPUTE_AT_WIDTH(words)               \
	do {                                  \
		if (bytes == 1)               \
			COMPUTE(words, u8);   \
		else                          \
			COMPUTE_WORDS(words); \
	} while (0)

u64 compute(enum operation operation, u64 a, u64 b, u32 bytes, unsigned long *flags)
{
	u64 result = 0;
	unsigned long said = *flags << 8;

	switch (operation) {
	case ADD:
		COMPUTE_AT_WIDTH("add %[y], %[x]");
		break;
	case OR:
		COMPUTE_AT_WIDTH("or %[y], %[x]");
		break;
	case ADC:
		COMPUTE_AT_WIDTH("adc %[y], %[x]");
		break;
	case SBB:
		COMPUTE_AT_WIDTH("sbb %[y], %[x]");
		break;
	case AND:
	case TEST:
		COMPUTE_AT_WIDTH("and %[y], %[x]");
		break;
	case SUB:
	case COMPARE:
		COMPUTE_AT_WIDTH("sub %[y], %[x]");
		break;
	case XOR:
		COMPUTE_AT_WIDTH("xor %[y], %[x]");
		break;
	case INCREMENT:
		COMPUTE_AT_WIDTH("inc %[x]");
		break;
	case DECREMENT:
		COMPUTE_AT_WIDTH("dec %[x]");
		break;
	case NEGATE:
		COMPUTE_AT_WIDTH("neg %[x]");
		break;
	case ROTATE_LEFT:
		COMPUTE_AT_WIDTH("rol %%cl, %[x]");
		break;
	case ROTATE_RIGHT:
		COMPUTE_AT_WIDTH("ror %%cl, %[x]");
		break;
	case ROTATE_LEFT_THROUGH_CARRY:
		COMPUTE_AT_WIDTH("rcl %%cl, %[x]");
		break;
	case ROTATE_RIGHT_THROUGH_CARRY:
		COMPUTE_AT_WIDTH("rcr %%cl, %[x]");
		break;
	case SHIFT_LEFT:
	case SHIFT_LEFT_TOO:
		COMPUTE_AT_WIDTH("shl %%cl, %[x]");
		break;
	case SHIFT_RIGHT:
		COMPUTE_AT_WIDTH("shr %%cl, %[x]");
		break;
	case SHIFT_SIGNED:
		COMPUTE_AT_WIDTH("sar %%cl, %[x]");
		break;
	case MULTIPLY:
		COMPUTE_WORDS("imul %[y], %[x]");
		break;
	}
	*flags = (*flags & ~ARITHMETIC_FLAGS) | (said >> 8 & ARITHMETIC_FLAGS & 0xff) |
		 (said & 0x1) << OVERFLOW_BIT;
	return result;
}
