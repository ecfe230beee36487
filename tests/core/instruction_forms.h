/* SPDX-License-Identifier: MIT */
/* Instructions that load or store, as described in the Intel SDM, volume 2. */
#ifndef UNDERSTUDY_INSTRUCTION_FORMS_H
#define UNDERSTUDY_INSTRUCTION_FORMS_H

#include "../../core/port.h"

#define CF 0x001u
#define PF 0x004u
#define AF 0x010u
#define ZF 0x040u
#define SF 0x080u
#define DF 0x400u
#define OF 0x800u
#define ALL_FLAGS (CF | PF | AF | ZF | SF | OF)

#define NO_DIGIT (-1)

enum layout {
	MODRM,
	OFFSET, /* the address follows the opcode */
	STRING_FROM, /* of RSI */
	STRING_TO, /* of RDI */
};

enum touch {
	READS = 1,
	WRITES = 2,
	CHANGES = READS | WRITES,
};

enum shift {
	NO_SHIFT,
	SHIFT_BY_ONE,
	SHIFT_BY_IMMEDIATE,
	SHIFT_BY_CL,
};

/* An opcode. */
struct form {
	enum layout layout;
	u8 opcode;
	bool two_byte;
	s32 digit; /* in ModR/M; NO_DIGIT: a register */
	u32 operand; /* bytes; 0: as prefixes say */
	u32 device; /* bytes accessed at the device, if not the operand's size */
	u32 immediate; /* bytes; 4: the operand's size, at most 4 */
	enum touch touch;
	u32 undefined; /* flags that may be anything */
	enum shift shift; /* a shift or rotate leaves further flags undefined */
	bool lockable;
	bool one_size_only; /* prefixes 66, F2 and F3 select another instruction */
	u8 prefix; /* the mandatory prefix, if any */
	bool aligned; /* to 16 bytes */
};

/* Return all forms and store their number in @count. */
const struct form *instruction_forms(u32 *count);

#endif
