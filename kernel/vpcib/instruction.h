/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86-64 instructions that load or store: decoded, and carried out with a device in the
 * place of memory (Jones 2010 section 3.2 decodes them as well).
 *
 * These are the moves, MOVS, STOS and LODS, the operations of two numbers and of one, shifts
 * and rotations, IMUL of a register, single bits by an immediate, XCHG, XADD, CMPXCHG, and the
 * moves of SSE registers: all that gcc makes of drivers and that libc copies by without AVX.
 * Not among them: PUSH, POP, CALL and JMP through memory, MUL and DIV, SETcc, CMOVcc, bit scans,
 * CMPS and SCAS, floating-point arithmetic, AVX, and addresses of 32 bits.
 *
 * Portable: it knows neither the kernel's struct pt_regs nor where the device is, so a
 * program can hold it against the processor itself (tests/core/test_instruction.c).
 */
#ifndef UNDERSTUDY_VPCIB_INSTRUCTION_H
#define UNDERSTUDY_VPCIB_INSTRUCTION_H

#include "../../core/port.h"

#define INSTRUCTION_BYTES_MAX 15

/* General registers by the number that instructions have for them. */
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
 * struct processor - what an instruction works on besides memory
 * @general: where the general registers are
 * @ip: where the instruction pointer is
 * @flags: where RFLAGS is
 * @get_vector: read an SSE register, low half first; NULL: they are out of reach
 * @set_vector: write one
 */
struct processor {
	unsigned long *general[REGISTERS];
	unsigned long *ip;
	unsigned long *flags;
	void (*get_vector)(struct processor *cpu, u32 number, u64 value[2]);
	void (*set_vector)(struct processor *cpu, u32 number, const u64 value[2]);
};

/**
 * struct instruction - one that was decoded
 * @length: its bytes
 * @two_byte: the opcode is 0F @opcode
 * @opcode: last byte of the opcode
 * @modrm: the ModR/M byte, 0 if it has none
 * @sib: the SIB byte, 0 if it has none
 * @rex: the REX prefix, 0 if it has none
 * @segment: FS or GS is added to the address
 * @operand_bytes: 2, 4 or 8, as prefixes say; byte-sized opcodes know it themselves
 * @prefix: F2 or F3, the last of them; otherwise 66, or 0
 * @displacement: sign-extended; of A0 to A3, the address
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
 * struct device_bus - what answers instead of memory
 * @load: a read of @bytes (1, 2, 4 or 8) at the address that faulted
 * @store: a write there
 * @from_memory: read ordinary memory, for instructions that copy; 0 or -EFAULT
 * @to_memory: write ordinary memory; 0 or -EFAULT
 */
struct device_bus {
	u64 (*load)(struct device_bus *bus, u64 address, u32 bytes);
	void (*store)(struct device_bus *bus, u64 address, u64 value, u32 bytes);
	int (*from_memory)(struct device_bus *bus, void *to, u64 from, u32 bytes);
	int (*to_memory)(struct device_bus *bus, u64 to, const void *from, u32 bytes);
};

/**
 * instruction_decode - of 64-bit code
 * @in: filled in
 * @code: where it begins
 * @bytes: how many of it are at hand
 *
 * Return: 0; -EOPNOTSUPP if it is none of those that instruction_emulate knows, or is cut off.
 */
int instruction_decode(struct instruction *in, const u8 *code, size_t bytes);

/* Where its operand in memory begins, but for FS and GS (SDM volume 2, tables 2-2 and 2-3). */
u64 instruction_operand(const struct instruction *in, const struct processor *cpu);

/**
 * instruction_emulate - carry out one whose operand in memory is the device
 * @in: decoded
 * @cpu: its registers; the instruction pointer is moved on
 * @address: the first byte of the device that it touches
 * @bus: the device
 *
 * Of a repeated one, one round: the instruction pointer stays until the last.
 * Return: 0; -EOPNOTSUPP if it can't be carried out, or begins elsewhere, as what comes to
 * the device from the page before; -EFAULT if other memory can't be touched.  Then nothing
 * has changed.
 */
int instruction_emulate(const struct instruction *in, struct processor *cpu,
			u64 address, struct device_bus *bus);

#endif
