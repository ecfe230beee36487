/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of an instruction, taken one after the other (Intel SDM volume 2, chapter 2). */
#ifndef UNDERSTUDY_VPCIB_CODE_H
#define UNDERSTUDY_VPCIB_CODE_H

#include "instruction.h"

#define REX_B 0x1
#define REX_X 0x2
#define REX_R 0x4
#define REX_W 0x8

/**
 * struct code - where one is read
 * @at: the next one
 * @end: behind the last that is at hand, and may be part of it
 * @cut_off: it goes on there
 */
struct code {
	const u8 *at;
	const u8 *end;
	bool cut_off;
};

struct code code_at(const u8 *bytes, size_t count);

u8 code_byte(struct code *code);

/* Sign-extended; of no bytes, 0. */
s64 code_number(struct code *code, u32 bytes);

/**
 * code_prefixes - and the byte behind them
 * @code: at the first byte
 * @in: has rex, segment and prefix filled in
 * @half: set if 66 is among them
 *
 * Segments besides FS and GS begin at 0, and LOCK means nothing to a device.  67, which makes
 * addresses shorter, is taken for an opcode.
 */
u8 code_prefixes(struct code *code, struct instruction *in, bool *half);

/* ModR/M, SIB and displacement, as with an operand in memory. */
void code_address(struct code *code, struct instruction *in);

#endif
