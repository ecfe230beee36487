// SPDX-License-Identifier: GPL-2.0
#include "code.h"

struct code code_at(const u8 *bytes, size_t count)
{
	size_t most = count < INSTRUCTION_BYTES_MAX ? count : INSTRUCTION_BYTES_MAX;

	return (struct code){ .at = bytes, .end = bytes + most };
}

u8 code_byte(struct code *code)
{
	if (code->at == code->end) {
		code->cut_off = true;
		return 0;
	}
	return *code->at++;
}

s64 code_number(struct code *code, u32 bytes)
{
	u32 shift = 64 - 8 * bytes;
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)code_byte(code) << (8 * i);
	return bytes ? (s64)(value << shift) >> shift : 0;
}

u8 code_prefixes(struct code *code, struct instruction *in, bool *half)
{
	for (;;) {
		u8 byte = code_byte(code);

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
			if (*half && !in->prefix)
				in->prefix = 0x66;
			if ((byte & 0xf0) != 0x40)
				return byte;
			in->rex = byte;
			return code_byte(code);
		}
	}
}

void code_address(struct code *code, struct instruction *in)
{
	u8 mod, rm;

	in->modrm = code_byte(code);
	mod = in->modrm >> 6;
	rm = in->modrm & 0x7;
	if (rm == 4)
		in->sib = code_byte(code);
	if (mod == 1)
		in->displacement = code_number(code, 1);
	else if (mod == 2 || rm == 5 || (rm == 4 && (in->sib & 0x7) == 5))
		in->displacement = code_number(code, 4);
}
