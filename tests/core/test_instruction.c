// SPDX-License-Identifier: MIT
/*
 * Instructions that load or store are emulated as the processor executes them.  Each runs in random
 * encodings, once on the processor with memory, and once emulated on a copy.  Registers, flags,
 * memory and instruction pointer must be equal afterwards.  The device must see the accesses of the
 * manual, in number, width and order.
 */
#include <string.h>

#include "../../kernel/vpcib/instruction.h"
#include "check.h"
#include "instruction_forms.h"
#include "native.h"

#define ALWAYS_SET 0x202u /* reserved, and interrupts */
#define ROUNDS_MAX 6
#define MIDDLE 2048

/* --- one instruction, encoded ------------------------------------------------------- */

struct trial {
	const struct form *form;
	struct native state;
	u8 code[32];
	u32 length;
	u32 operand; /* bytes */
	u32 device; /* bytes */
	u8 rex;
	bool gs;
	bool repeated;
	u64 address; /* of the device */
};

static void put(struct trial *trial, u64 value, u32 bytes)
{
	memcpy(&trial->code[trial->length], &value, bytes);
	trial->length += bytes;
}

static s64 remainder_of(s64 value, s64 by)
{
	return (value % by + by) % by;
}

/*
 * Give the registers values that lead to the device.  If these are only close, change the address.
 */
static void aim(struct trial *trial, s32 base, s32 index, u32 scale, s64 displacement)
{
	u64 *general = trial->state.general;
	s64 rest = (s64)trial->address - displacement - (trial->gs ? NATIVE_GS : 0);
	s64 times = (index >= 0 ? 1 << scale : 0) + (base == index);

	if (base >= 0 && base != index) {
		general[base] = rest;
		if (index >= 0)
			general[base] -= general[index] << scale;
		return;
	}
	trial->address -= remainder_of(rest, times);
	general[index] = (rest - remainder_of(rest, times)) / times;
}

/* Write ModR/M, SIB and displacement at random (SDM volume 2, tables 2-2 and 2-3). */
static void put_address(struct trial *trial, struct draw *draw, u32 middle)
{
	u32 mod = draw_below(draw, 3), rm = draw_below(draw, 8);
	u32 sib = draw_below(draw, 256);
	u32 disp_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	s32 base = rm | (trial->rex & 1) << 3, index = -1;
	s64 displacement = mod == 1 ? (s64)draw_below(draw, 256) - 128
				    : (s64)draw_below(draw, 1ull << 32) - (1ll << 31);

	put(trial, mod << 6 | middle << 3 | rm, 1);
	if (rm == 4) {
		put(trial, sib, 1);
		base = (sib & 7) | (trial->rex & 1) << 3;
		index = (sib >> 3 & 7) | (trial->rex & 2) << 2;
		index = index == 4 ? -1 : index;
	}
	if (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))) {
		base = -1;
		disp_bytes = 4;
	} else if (mod == 0) {
		displacement = 0;
	}
	if (base < 0 && index < 0)
		displacement = trial->address - (rm == 5 ? native_end() : 0) -
			       (trial->gs ? NATIVE_GS : 0);
	else
		aim(trial, base, index, sib >> 6, displacement);
	put(trial, displacement, disp_bytes);
}

/* Write prefixes without effect, and LOCK where it is valid. */
static void put_prefixes(struct trial *trial, struct draw *draw, u32 room)
{
	static const u8 idle[] = { 0x26, 0x2e, 0x36, 0x3e, 0xf2, 0xf3, 0x65, 0xf0 };
	const struct form *form = trial->form;
	u32 count = draw_below(draw, 2) ? draw_below(draw, room + 1) : 0;

	while (count--) {
		u8 byte = idle[draw_below(draw, ARRAY_SIZE(idle))];
		bool repeats = byte == 0xf2 || byte == 0xf3;

		if ((byte == 0xf0 && !form->lockable) ||
		    (repeats && (form->one_size_only || form->two_byte)) ||
		    (byte == 0x65 && form->layout >= STRING_FROM))
			continue;
		trial->gs |= byte == 0x65;
		trial->repeated |= repeats && form->layout >= STRING_FROM;
		put(trial, byte, 1);
	}
	/* the last segment counts */
	if (trial->gs)
		put(trial, 0x65, 1);
}

static void put_body(struct trial *trial, struct draw *draw)
{
	const struct form *form = trial->form;
	u32 middle = form->digit == NO_DIGIT ? draw_below(draw, 8) : (u32)form->digit;
	u32 full = trial->operand < 4 ? trial->operand : 4;

	if (form->two_byte)
		put(trial, 0x0f, 1);
	put(trial, form->opcode, 1);
	if (form->layout == MODRM)
		put_address(trial, draw, middle);
	else if (form->layout == OFFSET)
		put(trial, trial->address - (trial->gs ? NATIVE_GS : 0), 8);
	if (form->immediate)
		put(trial, draw_u64(draw), form->immediate == 1 ? 1 : full);
}

/* The longest instruction body is 12 bytes, or 10 with an address that moves. */
static void encode(struct trial *trial, struct draw *draw)
{
	const struct form *form = trial->form;
	bool half = draw_below(draw, 3) == 0 && !form->one_size_only;

	trial->rex = draw_below(draw, 2) ? 0x40 | draw_below(draw, 16) : 0;
	trial->operand = form->operand	  ? form->operand
			 : trial->rex & 8 ? 8
			 : half		  ? 2
					  : 4;
	trial->device = form->device ? form->device : trial->operand;
	put_prefixes(trial, draw, 1);
	if (half || form->prefix)
		put(trial, half ? 0x66 : form->prefix, 1);
	if (trial->rex)
		put(trial, trial->rex, 1);
	put_body(trial, draw);
}

/* --- the device, and other memory --------------------------------------------------- */

struct access {
	enum touch touch;
	u64 address;
	u32 bytes;
};

struct copies {
	struct device_bus bus;
	u8 block[NATIVE_BLOCKS][NATIVE_BLOCK]; /* the device, and memory */
	struct access access[2 * ROUNDS_MAX];
	u32 accesses;
};

static u8 *copy_of(struct copies *copies, u32 block, u64 address, u32 bytes)
{
	u64 offset = address - (u64)native_block(block);

	CHECK(offset <= NATIVE_BLOCK - bytes);
	return &copies->block[block][offset];
}

static void note(struct copies *copies, enum touch touch, u64 address, u32 bytes)
{
	CHECK(copies->accesses < ARRAY_SIZE(copies->access));
	copies->access[copies->accesses++] = (struct access){ touch, address, bytes };
}

static u64 load(struct device_bus *bus, u64 address, u32 bytes)
{
	struct copies *copies = (struct copies *)bus;
	u64 value = 0;

	note(copies, READS, address, bytes);
	memcpy(&value, copy_of(copies, 0, address, bytes), bytes);
	return value;
}

static void store(struct device_bus *bus, u64 address, u64 value, u32 bytes)
{
	struct copies *copies = (struct copies *)bus;

	CHECK(bytes == 8 || value >> (8 * bytes) == 0);
	note(copies, WRITES, address, bytes);
	memcpy(copy_of(copies, 0, address, bytes), &value, bytes);
}

static int from_memory(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	memcpy(to, copy_of((struct copies *)bus, 1, from, bytes), bytes);
	return 0;
}

static int to_memory(struct device_bus *bus, u64 to, const void *from, u32 bytes)
{
	memcpy(copy_of((struct copies *)bus, 1, to, bytes), from, bytes);
	return 0;
}

/* --- side by side ------------------------------------------------------------------- */

static void fail(const struct trial *trial, const char *what)
{
	char text[NATIVE_TEXT];

	CHECK_FAIL("%s: %s", native_text(text, trial->code, trial->length), what);
}

/* Check the accesses of a string instruction's rounds, or of a vector's steps. */
static void check_accesses(const struct trial *trial, const struct copies *copies,
			   u32 rounds)
{
	bool wide = trial->device == 16;
	u32 bytes = wide ? 8 : trial->device;
	u64 step = trial->state.flags & DF && !wide ? -(u64)bytes : bytes;
	const struct access *access = copies->access;
	u32 i;

	for (i = 0; i < (wide ? 2 : rounds); i++) {
		u64 address = trial->address + i * step;
		u32 kind;

		for (kind = READS; kind <= WRITES; kind++) {
			if (!(trial->form->touch & kind))
				continue;
			if (access->touch != kind || access->address != address ||
			    access->bytes != bytes)
				fail(trial, "the device was not touched so");
			access++;
		}
	}
	if (access != copies->access + copies->accesses)
		fail(trial, "the device was touched more often");
}

/* A processor with the registers of a struct native. */
struct registers_of {
	struct processor cpu;
	struct native *state;
};

static void get_vector(struct processor *cpu, u32 number, u64 value[2])
{
	memcpy(value, ((struct registers_of *)cpu)->state->vector[number], 16);
}

static void set_vector(struct processor *cpu, u32 number, const u64 value[2])
{
	memcpy(((struct registers_of *)cpu)->state->vector[number], value, 16);
}

static struct registers_of registers_of(struct native *state, u64 *ip)
{
	struct registers_of on = { .cpu = { .ip = (unsigned long *)ip,
					    .flags = (unsigned long *)&state->flags,
					    .get_vector = get_vector,
					    .set_vector = set_vector },
				   .state = state };
	u32 i;

	for (i = 0; i < REGISTERS; i++)
		on.cpu.general[i] = (unsigned long *)&state->general[i];
	return on;
}

static void decode(const struct trial *trial, struct instruction *in)
{
	u32 bytes;

	for (bytes = 0; bytes < trial->length; bytes++) {
		if (instruction_decode(in, trial->code, bytes) != -EOPNOTSUPP)
			fail(trial, "decoded although cut off");
	}
	if (instruction_decode(in, trial->code, trial->length))
		fail(trial, "not decoded");
	if (in->length != trial->length)
		fail(trial, "its length is wrong");
}

/* Emulate until the instruction pointer moves; return the number of steps. */
static u32 emulate(const struct trial *trial, struct native *state,
		   struct copies *copies)
{
	u64 begin = native_end() - trial->length, ip = begin;
	struct registers_of on = registers_of(state, &ip);
	struct instruction in;
	u32 rounds = 0;

	decode(trial, &in);
	do {
		u64 address = trial->form->layout == STRING_FROM ? state->general[6]
			      : trial->form->layout == STRING_TO ? state->general[7]
								 : trial->address;
		if (instruction_emulate(&in, &on.cpu, address, &copies->bus))
			fail(trial, "not carried out");
		rounds++;
	} while (ip == begin && rounds < ROUNDS_MAX);
	if (ip != native_end())
		fail(trial, "the instruction pointer is wrong");
	return rounds;
}

/* Return the flags undefined after a shift, besides those of the form. */
static u32 undefined_after_shift(const struct trial *trial)
{
	u32 bits = 8 * trial->operand;
	bool rotates = trial->form->digit < 4;
	u32 by = trial->form->shift == SHIFT_BY_ONE  ? 1
		 : trial->form->shift == SHIFT_BY_CL ? trial->state.general[1]
						     : trial->code[trial->length - 1];

	by &= trial->operand == 8 ? 63 : 31;
	if (!trial->form->shift || !by)
		return 0;
	return (by == 1 ? 0 : OF) | (rotates ? 0 : AF) |
	       (!rotates && by >= bits ? CF : 0);
}

static void compare(const struct trial *trial, const struct native *real,
		    const struct native *emulated, const struct copies *copies)
{
	u32 undefined = trial->form->undefined | undefined_after_shift(trial);
	u32 i;

	if (memcmp(real->general, emulated->general, sizeof(real->general)))
		fail(trial, "a register differs");
	if (memcmp(real->vector, emulated->vector, sizeof(real->vector)))
		fail(trial, "a vector differs");
	if ((real->flags ^ emulated->flags) & (DF | (ALL_FLAGS & ~undefined)))
		fail(trial, "a flag differs");
	for (i = 0; i < NATIVE_BLOCKS; i++) {
		if (memcmp(native_block(i), copies->block[i], NATIVE_BLOCK))
			fail(trial, i ? "memory differs" : "the device differs");
	}
}

static void run_trial(struct trial *trial)
{
	struct copies copies = { .bus = { load, store, from_memory, to_memory } };
	struct native real = trial->state, emulated = trial->state;
	u32 rounds, i;

	for (i = 0; i < NATIVE_BLOCKS; i++)
		memcpy(copies.block[i], native_block(i), NATIVE_BLOCK);
	native_run(&real, trial->code, trial->length);
	rounds = emulate(trial, &emulated, &copies);
	if (trial->repeated && !trial->state.general[1])
		rounds = 0;
	check_accesses(trial, &copies, rounds);
	compare(trial, &real, &emulated, &copies);
}

static void randomise(void *memory, u32 bytes, struct draw *draw)
{
	u32 i;

	for (i = 0; i < bytes; i += 8) {
		u64 value = draw_u64(draw);

		memcpy((u8 *)memory + i, &value, 8);
	}
}

/* String instructions use the addresses in RSI and RDI, and repeat RCX times. */
static void aim_string(struct trial *trial, struct draw *draw)
{
	u64 *general = trial->state.general;
	u64 memory = (u64)native_block(1) + MIDDLE + draw_below(draw, 64);

	general[6] = trial->form->layout == STRING_FROM ? trial->address : memory;
	general[7] = trial->form->layout == STRING_TO ? trial->address : memory;
	if (trial->repeated)
		general[1] = draw_below(draw, ROUNDS_MAX);
}

/* Make the device's value equal to RAX, so that cmpxchg also succeeds. */
static void make_equal(struct trial *trial)
{
	memcpy((void *)trial->address, &trial->state.general[0], 8);
}

static struct trial make_trial(const struct form *form, struct draw *draw)
{
	struct trial trial;

	do {
		trial = (struct trial){ .form = form };
		randomise(&trial.state, sizeof(trial.state), draw);
		trial.state.flags = ALWAYS_SET | (trial.state.flags & (ALL_FLAGS | DF));
		trial.address = (u64)native_block(0) + MIDDLE;
		trial.address += form->aligned ? 0 : draw_below(draw, 64);
		encode(&trial, draw);
	} while (form->aligned && trial.address % 16);
	if (form->layout >= STRING_FROM)
		aim_string(&trial, draw);
	return trial;
}

static void each_form(struct draw *draw)
{
	u32 count, i;
	const struct form *forms = instruction_forms(&count);

	for (i = 0; i < count; i++) {
		struct trial trial = make_trial(&forms[i], draw);

		randomise(native_block(0), NATIVE_BLOCKS * NATIVE_BLOCK, draw);
		if (draw_below(draw, 2))
			make_equal(&trial);
		run_trial(&trial);
	}
}

int main(void)
{
	check_seeds(1000, each_form);
	return 0;
}
