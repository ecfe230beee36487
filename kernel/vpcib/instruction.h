/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decodes x86-64 instructions that load or store, and executes them on a device instead of memory
 * (Jones 2010 section 3.2 describes a similar decoder).
 *
 * Supported instructions are the moves; MOVS, STOS and LODS; the operations with one and two
 * operands; shifts and rotations; IMUL of a register; operations on single bits with an immediate
 * bit number; XCHG, XADD and CMPXCHG; and the moves of SSE registers.  gcc generates only these
 * instructions for drivers.  libc's copying functions also use only these instructions, unless they
 * use AVX.  These instructions are not supported: PUSH, POP, CALL and JMP through memory, MUL and
 * DIV, SETcc, CMOVcc, bit scans, CMPS and SCAS, floating-point arithmetic, AVX, and instructions
 * with 32-bit addresses.
 *
 * This code is portable: it uses neither the kernel's struct pt_regs nor the device's mapping.  So
 * a test program can compare the results with the processor's (tests/core/test_instruction.c).
 */
#ifndef UNDERSTUDY_VPCIB_INSTRUCTION_H
#define UNDERSTUDY_VPCIB_INSTRUCTION_H

#include "../../core/port.h"

#define INSTRUCTION_BYTES_MAX 15

/* The general registers, by their numbers in instructions. */
enum processor_register {
	REGISTER_AX,
	REGISTER_CX,
	REGISTER_DX,
	REGISTER_BX,
	REGISTER_SP,
	REGISTER_BP,
	REGISTER_SI,
	REGISTER_DI,
	REGISTERS = 16,
};

/**
 * struct processor - the registers that an instruction uses
 * @general: pointers to the general registers
 * @ip: pointer to the instruction pointer
 * @flags: pointer to RFLAGS
 * @get_vector: reads an SSE register as two values, the low half first.  NULL if SSE registers are
 *   not available.
 * @set_vector: writes an SSE register
 */
struct processor {
	unsigned long *general[REGISTERS];
	unsigned long *ip;
	unsigned long *flags;
	void (*get_vector)(struct processor *cpu, u32 number, u64 value[2]);
	void (*set_vector)(struct processor *cpu, u32 number, const u64 value[2]);
};

/**
 * struct instruction - a decoded instruction
 * @length: its number of bytes
 * @two_byte: whether the opcode has two bytes, 0F and @opcode
 * @opcode: last byte of the opcode
 * @modrm: the ModR/M byte, or 0 if there is none
 * @sib: the SIB byte, or 0 if there is none
 * @rex: the REX prefix, or 0 if there is none
 * @segment: whether the base of FS or GS is added to the address
 * @operand_bytes: operand size from the prefixes: 2, 4 or 8.  Opcodes with byte operands ignore it.
 * @prefix: the last prefix F2 or F3; without these, 66 if the instruction has it, else 0
 * @displacement: sign-extended; for A0 to A3, the address
 * @immediate: sign-extended
 */
struct instruction {
	u8 length;
	bool two_byte;
	u8 opcode;
	u8 modrm;
	u8 sib;
	u8 rex;
	bool segment;
	u8 operand_bytes;
	u8 prefix;
	s64 displacement;
	s64 immediate;
};

/* Returns the register operand in the ModR/M byte. */
static inline u32 instruction_register(const struct instruction *in)
{
	return (in->modrm >> 3 & 0x7) | (in->rex & 0x4 ? 8 : 0);
}

/**
 * struct device_bus - a device whose registers are accessed like memory
 * @load: reads 1, 2, 4 or 8 bytes of the device
 * @store: writes 1, 2, 4 or 8 bytes of the device
 * @from_memory: reads ordinary memory, for instructions that copy; returns 0 or -EFAULT
 * @to_memory: writes ordinary memory; returns 0 or -EFAULT
 */
struct device_bus {
	u64 (*load)(struct device_bus *bus, u64 address, u32 bytes);
	void (*store)(struct device_bus *bus, u64 address, u64 value, u32 bytes);
	int (*from_memory)(struct device_bus *bus, void *to, u64 from, u32 bytes);
	int (*to_memory)(struct device_bus *bus, u64 to, const void *from, u32 bytes);
};

/**
 * instruction_decode - decode an instruction of 64-bit code
 * @in: filled in
 * @code: begin of the instruction
 * @bytes: number of available bytes
 *
 * Return: 0, or -EOPNOTSUPP if instruction_emulate does not support the instruction, or if not all
 * of its bytes are available.
 */
int instruction_decode(struct instruction *in, const u8 *code, size_t bytes);

/*
 * Returns the address of the instruction's operand in memory.  The base of FS or GS is not included
 * (SDM volume 2, tables 2-2 and 2-3).
 */
u64 instruction_operand(const struct instruction *in, const struct processor *cpu);

/**
 * instruction_emulate - execute an instruction whose operand in memory is the device
 * @in: the decoded instruction
 * @cpu: the registers at the fault.  The instruction pointer is advanced.
 * @address: the faulting address, which is the first byte of the device that the instruction
 *   accesses
 * @bus: the device
 *
 * For an instruction with a repeat prefix, each call executes one iteration.  The instruction
 * pointer is advanced only after the last iteration.
 *
 * Return: 0, -EOPNOTSUPP or -EFAULT.  -EOPNOTSUPP means that the instruction can't be executed, or
 * that the operand begins outside the device, such as in the page before the device.  -EFAULT means
 * that ordinary memory can't be accessed.  On error nothing has changed.
 */
int instruction_emulate(const struct instruction *in, struct processor *cpu,
			u64 address, struct device_bus *bus);

#endif
