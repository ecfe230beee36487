/* SPDX-License-Identifier: MIT */
/*
 * Run a single instruction, given as bytes, on the processor itself.  The test chooses
 * the registers and memory, and sees what the instruction changed.
 *
 * Code and memory lie in the lowest 2 GB, so that every address form reaches them.  The
 * instruction must end at NATIVE_END.  It may change any register, including the stack
 * pointer, but may not jump, fault or push.
 */
#ifndef UNDERSTUDY_NATIVE_H
#define UNDERSTUDY_NATIVE_H

#include "../../core/port.h"

#define NATIVE_REGISTERS 16
#define NATIVE_BLOCK 4096
#define NATIVE_BLOCKS 2

/* Registers, by their numbers in instructions. */
struct native {
	u64 general[NATIVE_REGISTERS];
	u64 flags;
	u8 vector[NATIVE_REGISTERS][16];
};

/* The base of GS while an instruction runs. */
#define NATIVE_GS 0x12345

/* Return one of NATIVE_BLOCKS blocks of NATIVE_BLOCK bytes of memory. */
u8 *native_block(u32 which);

/* Return the address of the byte after the instruction. */
u64 native_end(void);

/* Run an instruction of at most 15 bytes. */
void native_run(struct native *state, const u8 *code, u32 bytes);

/* Write the bytes in hexadecimal into text and return it; at most the first 32 bytes. */
#define NATIVE_TEXT (3 * 32 + 1)
const char *native_text(char text[NATIVE_TEXT], const u8 *code, u32 bytes);

#endif
