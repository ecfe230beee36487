/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the bytes of an instruction one by one (Intel SDM volume 2, chapter 2). */
#ifndef UNDERSTUDY_VPCIB_CODE_H
#define UNDERSTUDY_VPCIB_CODE_H

#include "instruction.h"

#define REX_B 0x1
#define REX_X 0x2
#define REX_R 0x4
#define REX_W 0x8

/**
 * struct code - a pointer into the bytes of an instruction
 * @at: the next byte
 * @end: the byte after the last available byte
 * @cut_off: whether the instruction continues after @end
 */
struct code {
	const u8 *at;
	const u8 *end;
	bool cut_off;
};

struct code code_at(const u8 *bytes, size_t count);

u8 code_byte(struct code *code);

/* Reads a number of `bytes` bytes and sign-extends it.  Returns 0 if bytes is 0. */
s64 code_number(struct code *code, u32 bytes);

/**
 * code_prefixes - read the prefixes and the byte after the prefixes
 * @code: at the first byte
 * @in: the fields rex, segment and prefix are set
 * @half: set to true if 66 is among the prefixes
 *
 * Prefixes for segments other than FS and GS are ignored, since those segments begin at 0.  LOCK is
 * ignored, since it has no effect on a device.  Prefix 67, which makes addresses shorter, is
 * returned like an opcode.
 */
u8 code_prefixes(struct code *code, struct instruction *in, bool *half);

/* Reads the ModR/M and SIB bytes and the displacement of an operand in memory. */
void code_address(struct code *code, struct instruction *in);

#endif
