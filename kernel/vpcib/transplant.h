/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rewrites an instruction of 64-bit code that instruction.h does not support.  The new instruction
 * does the same with an operand at another address.  The new operand is addressed relative to the
 * instruction pointer, so its address needs no register.  The processor then executes the new
 * instruction (fallback.c).
 *
 * The new instruction runs in the kernel, although a process may have chosen the bytes of the
 * original.  So the new instruction must access nothing but registers and the new operand.  These
 * instructions are accepted: x87, MMX, SSE and AVX.  Of the general instructions, these are
 * accepted: MUL, DIV, CMOVcc, SETcc, bit scans, double shifts, CMPXCHG8B and CMPXCHG16B, MOVBE,
 * CRC32, BMI, FXSAVE and FXRSTOR.
 *
 * The following are refused:
 * - instructions that push, pop, jump, or load a segment register
 * - operands whose address also depends on a register (BT with a register, gathers, AMX)
 * - XSAVE, whose size depends on the processor
 * - AVX-512, whose displacements are scaled
 * - a general operand in RSP, since it would be the kernel's stack pointer
 * - instructions that have another effect in the kernel (MOV of a segment register, LAR, shadow
 *   stacks)
 */
#ifndef UNDERSTUDY_VPCIB_TRANSPLANT_H
#define UNDERSTUDY_VPCIB_TRANSPLANT_H

#include "instruction.h"

/**
 * struct transplant - a rewritten instruction
 * @in: the original instruction.  Only its length and the address of its operand
 *   (instruction_operand) are valid.
 * @code: the new instruction
 * @bytes: length of the new instruction
 * @displacement: offset in @code of the 4-byte displacement.  The displacement leads from the end
 *   of the instruction to the operand.
 * @operand_bytes: the largest size of the operand
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
 * @to: filled in, except for the displacement
 * @code: first byte of the original instruction
 * @bytes: number of available bytes
 *
 * Return: 0, or -EOPNOTSUPP if the instruction is not accepted, or if not all of its bytes are
 * available.
 */
int transplant_decode(struct transplant *to, const u8 *code, size_t bytes);

#endif
