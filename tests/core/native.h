/* SPDX-License-Identifier: MIT */
/*
 * The processor itself: runs one instruction, given as bytes, on registers and memory that
 * a test has chosen, and tells what has become of them.
 *
 * All of it lies in the lowest 2 GB, so that every form of address reaches it.  The
 * instruction ends where NATIVE_END is, and may change any register, the stack pointer too;
 * it may not jump, fault or push.
 */
#ifndef UNDERSTUDY_NATIVE_H
#define UNDERSTUDY_NATIVE_H

#include "../../core/port.h"

#define NATIVE_REGISTERS 16
#define NATIVE_BLOCK 4096
#define NATIVE_BLOCKS 2

/* Registers by the numbers that instructions have for them. */
struct native {
	u64 general[NATIVE_REGISTERS];
	u64 flags;
	u8 vector[NATIVE_REGISTERS][16];
};

/* Where GS begins while an instruction runs. */
#define NATIVE_GS 0x12345

/* One of NATIVE_BLOCKS pieces of memory of NATIVE_BLOCK bytes. */
u8 *native_block(u32 which);

/* The address of the byte after the instruction. */
u64 native_end(void);

/* Run it; at most 15 bytes. */
void native_run(struct native *state, const u8 *code, u32 bytes);

/* Its bytes in words, into the text, which is returned; of more than 32, the first. */
#define NATIVE_TEXT (3 * 32 + 1)
const char *native_text(char text[NATIVE_TEXT], const u8 *code, u32 bytes);

#endif
