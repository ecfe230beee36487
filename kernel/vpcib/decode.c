// SPDX-License-Identifier: GPL-2.0
/* Decodes the supported instructions.  The opcode determines the parts that follow it. */
#include "code.h"
#include "vector.h"

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
	struct code c = code_at(code, bytes);
	bool half = false, modrm;
	u8 byte;

	*in = (struct instruction){ 0 };
	byte = code_prefixes(&c, in, &half);
	in->two_byte = byte == 0x0f;
	in->opcode = in->two_byte ? code_byte(&c) : byte;
	in->operand_bytes = in->rex & REX_W ? 8 : half ? 2 : 4;

	modrm = in->two_byte ? two_byte_has_modrm(in->opcode) || vector_move(in)
			     : one_byte_has_modrm(in->opcode);
	if (modrm)
		code_address(&c, in);
	else if (!in->two_byte && (in->opcode & 0xfc) == 0xa0)
		in->displacement = code_number(&c, 8);
	else if (in->two_byte || !is_string(in->opcode) || in->segment)
		return -EOPNOTSUPP;
	in->immediate = code_number(&c, immediate_bytes(in));
	in->length = (u8)(c.at - code);
	return c.cut_off || in->modrm >> 6 == 3 ? -EOPNOTSUPP : 0;
}
