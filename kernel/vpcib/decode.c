// SPDX-License-Identifier: GPL-2.0
/* Prefixes, opcode, ModR/M, displacement and immediate (Intel SDM volume 2, chapter 2). */
#include "instruction.h"
#include "vector.h"

#define REX_W 0x8

struct cursor {
	const u8 *at;
	const u8 *end;
	bool cut_off;
};

static u8 next(struct cursor *c)
{
	if (c->at == c->end) {
		c->cut_off = true;
		return 0;
	}
	return *c->at++;
}

/* Sign-extended; of no bytes, 0. */
static s64 number(struct cursor *c, u32 bytes)
{
	u32 shift = 64 - 8 * bytes;
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)next(c) << (8 * i);
	return bytes ? (s64)(value << shift) >> shift : 0;
}

/*
 * Segments besides FS and GS begin at 0, and LOCK means nothing to a device.  67, which makes
 * addresses shorter, is taken for an opcode, and so refused.
 */
static u8 take_prefixes(struct instruction *in, struct cursor *c, bool *half)
{
	for (;;) {
		u8 byte = next(c);

		switch (byte) {
		case 0x66:
			*half = true;
			break;
		case 0xf2:
		case 0xf3:
			in->prefix = byte;
			break;
		case 0x64:
		case 0x65:
			in->segment = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			break;
		default:
			if ((byte & 0xf0) != 0x40)
				return byte;
			in->rex = byte;
			return next(c);
		}
	}
}

static bool one_byte_has_modrm(u8 opcode)
{
	if (opcode < 0x40)
		return (opcode & 0x7) < 4;
	return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       (opcode >= 0x80 && opcode <= 0x8b && opcode != 0x82) || opcode == 0xc0 ||
	       opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
	       (opcode >= 0xd0 && opcode <= 0xd3) || opcode == 0xf6 || opcode == 0xf7 ||
	       opcode == 0xfe || opcode == 0xff;
}

static bool two_byte_has_modrm(u8 opcode)
{
	return opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe ||
	       opcode == 0xbf || opcode == 0xb0 || opcode == 0xb1 || opcode == 0xba ||
	       opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc3;
}

static bool is_string(u8 opcode)
{
	return opcode == 0xa4 || opcode == 0xa5 || opcode == 0xaa || opcode == 0xab ||
	       opcode == 0xac || opcode == 0xad;
}

static void take_address(struct instruction *in, struct cursor *c)
{
	u8 mod, rm;

	in->modrm = next(c);
	mod = in->modrm >> 6;
	rm = in->modrm & 0x7;
	if (rm == 4)
		in->sib = next(c);
	if (mod == 1)
		in->displacement = number(c, 1);
	else if (mod == 2 || rm == 5 || (rm == 4 && (in->sib & 0x7) == 5))
		in->displacement = number(c, 4);
}

static u32 immediate_bytes(const struct instruction *in)
{
	u32 full = in->operand_bytes == 2 ? 2 : 4;
	bool tests = (in->modrm & 0x38) <= 0x08;

	if (in->two_byte)
		return in->opcode == 0xba ? 1 : 0;
	switch (in->opcode) {
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return 1;
	case 0x69:
	case 0x81:
	case 0xc7:
		return full;
	case 0xf6:
		return tests ? 1 : 0;
	case 0xf7:
		return tests ? full : 0;
	default:
		return 0;
	}
}

int instruction_decode(struct instruction *in, const u8 *code, size_t bytes)
{
	size_t most = bytes < INSTRUCTION_BYTES_MAX ? bytes : INSTRUCTION_BYTES_MAX;
	struct cursor c = { .at = code, .end = code + most };
	bool half = false, modrm;
	u8 byte;

	*in = (struct instruction){ 0 };
	byte = take_prefixes(in, &c, &half);
	in->two_byte = byte == 0x0f;
	in->opcode = in->two_byte ? next(&c) : byte;
	if (half && !in->prefix)
		in->prefix = 0x66;
	in->operand_bytes = in->rex & REX_W ? 8 : half ? 2 : 4;

	modrm = in->two_byte ? two_byte_has_modrm(in->opcode) || vector_move(in)
			     : one_byte_has_modrm(in->opcode);
	if (modrm)
		take_address(in, &c);
	else if (!in->two_byte && (in->opcode & 0xfc) == 0xa0)
		in->displacement = number(&c, 8);
	else if (in->two_byte || !is_string(in->opcode) || in->segment)
		return -EOPNOTSUPP;
	in->immediate = number(&c, immediate_bytes(in));
	in->length = (u8)(c.at - code);
	return c.cut_off || in->modrm >> 6 == 3 ? -EOPNOTSUPP : 0;
}
