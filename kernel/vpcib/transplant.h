/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns an instruction of 64-bit code that instruction.h does not know into one that does the same
 * with its operand elsewhere.  The new operand is at a displacement from the instruction pointer,
 * which needs no register.  The processor then carries out the new instruction (fallback.c).
 *
 * A process may have chosen the bytes, and the kernel runs the result.  So the result must touch
 * nothing but registers and that operand, whoever runs it.  The accepted instructions are x87, MMX,
 * SSE and AVX; and of the general ones MUL, DIV, CMOVcc, SETcc, bit scans, double shifts, CMPXCHG8B
 * and CMPXCHG16B, MOVBE, CRC32, BMI, FXSAVE and FXRSTOR.
 *
 * The following are refused:
 * - instructions that push, pop, jump, or load a segment
 * - operands whose address also depends on a register (BT with a register, gathers, AMX)
 * - XSAVE, whose size depends on the processor
 * - AVX-512, whose displacements are scaled
 * - a general operand in RSP, which would be the kernel's own
 * - instructions that mean something else in the kernel (MOV of a segment, LAR, shadow stacks)
 */
#ifndef UNDERSTUDY_VPCIB_TRANSPLANT_H
#define UNDERSTUDY_VPCIB_TRANSPLANT_H

#include "instruction.h"

/**
 * struct transplant - a transplanted instruction
 * @in: the original: its length, and the address of its operand (instruction_operand)
 * @code: the new instruction
 * @bytes: its length
 * @displacement: offset in @code of the 4 bytes that lead from its end to the operand
 * @operand_bytes: the largest size of its operand
 */
struct transplant {
	struct instruction in;
	u8 code[INSTRUCTION_BYTES_MAX];
	u8 bytes;
	u8 displacement;
	u16 operand_bytes;
};

/**
 * transplant_decode - make the new instruction
 * @to: filled in, but for the displacement
 * @code: begin of the original
 * @bytes: how many of its bytes are available
 *
 * Return: 0; -EOPNOTSUPP if it is not accepted, or is cut off.
 */
int transplant_decode(struct transplant *to, const u8 *code, size_t bytes);

#endif
