// SPDX-License-Identifier: GPL-2.0
#include "code.h"
#include "vector.h"

#define WHOLE 16

static const struct vector_move moves[] = {
	{ .prefix = 0x00, .opcode = 0x10, .bytes = WHOLE }, /* MOVUPS */
	{ .prefix = 0x00, .opcode = 0x11, .bytes = WHOLE, .store = true },
	{ .prefix = 0x66, .opcode = 0x10, .bytes = WHOLE }, /* MOVUPD */
	{ .prefix = 0x66, .opcode = 0x11, .bytes = WHOLE, .store = true },
	{ .prefix = 0xf3, .opcode = 0x10, .bytes = 4 }, /* MOVSS */
	{ .prefix = 0xf3, .opcode = 0x11, .bytes = 4, .store = true },
	{ .prefix = 0xf2, .opcode = 0x10, .bytes = 8 }, /* MOVSD */
	{ .prefix = 0xf2, .opcode = 0x11, .bytes = 8, .store = true },
	{ .prefix = 0x00, .opcode = 0x12, .bytes = 8, .keeps = true }, /* MOVLPS */
	{ .prefix = 0x00, .opcode = 0x13, .bytes = 8, .store = true },
	{ .prefix = 0x66, .opcode = 0x12, .bytes = 8, .keeps = true }, /* MOVLPD */
	{ .prefix = 0x66, .opcode = 0x13, .bytes = 8, .store = true },
	{ .prefix = 0x00, .opcode = 0x16, .bytes = 8, .keeps = true, .high = true },
	{ .prefix = 0x00, .opcode = 0x17, .bytes = 8, .store = true, .high = true },
	{ .prefix = 0x66, .opcode = 0x16, .bytes = 8, .keeps = true, .high = true },
	{ .prefix = 0x66, .opcode = 0x17, .bytes = 8, .store = true, .high = true },
	{ .prefix = 0x00, .opcode = 0x28, .bytes = WHOLE }, /* MOVAPS */
	{ .prefix = 0x00, .opcode = 0x29, .bytes = WHOLE, .store = true },
	{ .prefix = 0x66, .opcode = 0x28, .bytes = WHOLE }, /* MOVAPD */
	{ .prefix = 0x66, .opcode = 0x29, .bytes = WHOLE, .store = true },
	{ .prefix = 0x00, .opcode = 0x2b, .bytes = WHOLE, .store = true }, /* MOVNTPS */
	{ .prefix = 0x66, .opcode = 0x2b, .bytes = WHOLE, .store = true }, /* MOVNTPD */
	{ .prefix = 0x66, .opcode = 0x6e }, /* MOVD, MOVQ */
	{ .prefix = 0x66, .opcode = 0x7e, .store = true },
	{ .prefix = 0x66, .opcode = 0x6f, .bytes = WHOLE }, /* MOVDQA */
	{ .prefix = 0x66, .opcode = 0x7f, .bytes = WHOLE, .store = true },
	{ .prefix = 0xf3, .opcode = 0x6f, .bytes = WHOLE }, /* MOVDQU */
	{ .prefix = 0xf3, .opcode = 0x7f, .bytes = WHOLE, .store = true },
	{ .prefix = 0xf3, .opcode = 0x7e, .bytes = 8 }, /* MOVQ */
	{ .prefix = 0x66, .opcode = 0xd6, .bytes = 8, .store = true },
	{ .prefix = 0x66, .opcode = 0xe7, .bytes = WHOLE, .store = true }, /* MOVNTDQ */
	{ .prefix = 0xf2, .opcode = 0xf0, .bytes = WHOLE }, /* LDDQU */
};

const struct vector_move *vector_move(const struct instruction *in)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		if (moves[i].prefix == in->prefix && moves[i].opcode == in->opcode)
			return &moves[i];
	}
	return NULL;
}

/* Executes the move.  A load sets the whole register, including the part that is not loaded. */
int vector_emulate(const struct instruction *in, struct processor *cpu, u64 address,
		   struct device_bus *bus)
{
	const struct vector_move *move = vector_move(in);
	u32 bytes = move->bytes ? move->bytes : in->rex & REX_W ? 8 : 4;
	u32 step = bytes < 8 ? bytes : 8;
	u32 number = instruction_register(in);
	u64 value[2] = {};
	u32 i;

	if (!cpu->get_vector)
		return -EOPNOTSUPP;
	if (move->store || move->keeps)
		cpu->get_vector(cpu, number, value);
	for (i = 0; i < bytes; i += step) {
		u64 *part = &value[move->high || i];

		if (move->store)
			bus->store(bus, address + i, step == 8 ? *part : (u32)*part,
				   step);
		else
			*part = bus->load(bus, address + i, step);
	}
	if (!move->store)
		cpu->set_vector(cpu, number, value);
	return 0;
}
