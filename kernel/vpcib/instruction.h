/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decodes x86-64 instructions that load or store, and carries them out with a device in place of
 * memory (Jones 2010 section 3.2 decodes them as well).
 *
 * Known are the moves, MOVS, STOS and LODS, the operations with one and two operands, shifts and
 * rotations, IMUL of a register, single bits by an immediate, XCHG, XADD, CMPXCHG, and the moves of
 * SSE registers.  gcc makes only these for drivers, and libc copies with these if it does not use
 * AVX.  Not known are PUSH, POP, CALL and JMP through memory, MUL and DIV, SETcc, CMOVcc, bit
 * scans, CMPS and SCAS, floating-point arithmetic, AVX, and addresses of 32 bits.
 *
 * This code is portable: it does not depend on the kernel's struct pt_regs or on the device's
 * place, so a program can check it against the processor (tests/core/test_instruction.c).
 */
#ifndef UNDERSTUDY_VPCIB_INSTRUCTION_H
#define UNDERSTUDY_VPCIB_INSTRUCTION_H

#include "../../core/port.h"

#define INSTRUCTION_BYTES_MAX 15

/* General registers, by their numbers in instructions. */
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
 * struct processor - the registers for an instruction
 * @general: pointers to the general registers
 * @ip: pointer to the instruction pointer
 * @flags: pointer to RFLAGS
 * @get_vector: reads an SSE register, low half first; NULL: SSE registers are not available
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
 * @length: its bytes
 * @two_byte: the opcode is 0F @opcode
 * @opcode: last byte of the opcode
 * @modrm: the ModR/M byte, 0 if it has none
 * @sib: the SIB byte, 0 if it has none
 * @rex: the REX prefix, 0 if it has none
 * @segment: FS or GS is added to the address
 * @operand_bytes: 2, 4 or 8, from the prefixes; opcodes for bytes ignore it
 * @prefix: the last F2 or F3 prefix; otherwise 66, or 0
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

/* The register that ModR/M names besides the operand in memory. */
static inline u32 instruction_register(const struct instruction *in)
{
	return (in->modrm >> 3 & 0x7) | (in->rex & 0x4 ? 8 : 0);
}

/**
 * struct device_bus - the device that answers instead of memory
 * @load: reads @bytes (1, 2, 4 or 8) at the address that faulted
 * @store: writes there
 * @from_memory: reads ordinary memory, for instructions that copy; 0 or -EFAULT
 * @to_memory: writes ordinary memory; 0 or -EFAULT
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
 * @bytes: how many of its bytes are available
 *
 * Return: 0; -EOPNOTSUPP if instruction_emulate does not know it, or if it is cut off.
 */
int instruction_decode(struct instruction *in, const u8 *code, size_t bytes);

/* The address of its operand in memory, without FS and GS (SDM volume 2, tables 2-2 and 2-3). */
u64 instruction_operand(const struct instruction *in, const struct processor *cpu);

/**
 * instruction_emulate - carry out an instruction whose operand in memory is the device
 * @in: decoded
 * @cpu: its registers; the instruction pointer is moved on
 * @address: the first byte of the device that it touches
 * @bus: the device
 *
 * A call carries out one round of a repeated instruction: the instruction pointer stays until the
 * last round.
 * Return: 0; -EOPNOTSUPP if it can't be carried out, or if its operand begins elsewhere, such as in
 *   the page before the device; -EFAULT if other memory can't be accessed.  After an error nothing
 *   has changed.
 */
int instruction_emulate(const struct instruction *in, struct processor *cpu,
			u64 address, struct device_bus *bus);

#endif
