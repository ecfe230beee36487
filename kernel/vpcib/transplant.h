/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instruction of 64-bit code that instruction.h does not know, made into one that does the
 * same with its operand elsewhere: at a displacement from the instruction pointer, which takes
 * no register.  The processor itself then carries it out (fallback.c).
 *
 * It may be a process that has chosen the bytes, and the kernel that runs them, so what is made
 * is known to touch nothing but registers and that operand, whoever runs it: x87, MMX, SSE and
 * AVX, and of the general ones MUL, DIV, CMOVcc, SETcc, bit scans, double shifts, CMPXCHG8B and
 * CMPXCHG16B, MOVBE, CRC32, BMI, FXSAVE and FXRSTOR.
 *
 * Not among them: what pushes, pops, jumps, or loads a segment; operands whose place depends on
 * a register besides (BT with one, gathers, AMX); XSAVE, whose size depends on the processor;
 * AVX-512, whose displacements are scaled; a general operand in RSP, which is the kernel's own
 * then; what means something else in the kernel (MOV of a segment, LAR, shadow stacks).
 */
#ifndef UNDERSTUDY_VPCIB_TRANSPLANT_H
#define UNDERSTUDY_VPCIB_TRANSPLANT_H

#include "instruction.h"

/**
 * struct transplant - one of them
 * @in: as it stands in the code: its length, and where its operand is (instruction_operand)
 * @code: what is made of it
 * @bytes: how many
 * @displacement: where in @code the 4 bytes are that lead from its end to the operand
 * @operand_bytes: how many its operand may have, at most
 */
struct transplant {
	struct instruction in;
	u8 code[INSTRUCTION_BYTES_MAX];
	u8 bytes;
	u8 displacement;
	u16 operand_bytes;
};

/**
 * transplant_decode - make one
 * @to: filled in, but for the displacement
 * @code: where it begins
 * @bytes: how many of it are at hand
 *
 * Return: 0; -EOPNOTSUPP if it is none of those, or is cut off.
 */
int transplant_decode(struct transplant *to, const u8 *code, size_t bytes);

#endif
