// SPDX-License-Identifier: MIT
/*
 * Turn bytes into an instruction, in memory of exactly its size, so that the sanitizer detects
 * reads past its end.  Bytes after an instruction must not change its decoding, and without its
 * last byte it must not decode.  The instruction is emulated on registers taken from the bytes.
 * Either nothing changes, or the instruction pointer ends after the instruction; for a repeated
 * one, the pointer may stay.  Transplanted instructions get the same checks on decoding, but do not
 * run.
 */
#include <string.h>

#include "../../kernel/vpcib/transplant.h"
#include "../core/check.h"

#define BEGIN 0x400000ul
#define TOUCHES_MAX 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct machine {
	struct device_bus bus;
	struct processor cpu;
	unsigned long general[REGISTERS], ip, flags;
	u64 vector[REGISTERS][2];
	u32 touches;
};

static u64 load(struct device_bus *bus, u64 address, u32 bytes)
{
	((struct machine *)bus)->touches++;
	CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
	return U64_MAX >> (64 - 8 * bytes);
}

static void store(struct device_bus *bus, u64 address, u64 value, u32 bytes)
{
	((struct machine *)bus)->touches++;
	CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
	CHECK(value <= U64_MAX >> (64 - 8 * bytes));
}

static int from_memory(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	memset(to, 1, bytes);
	return from & 1 ? -EFAULT : 0;
}

static int to_memory(struct device_bus *bus, u64 to, const void *from, u32 bytes)
{
	return to & 2 ? -EFAULT : 0;
}

static void get_vector(struct processor *cpu, u32 number, u64 value[2])
{
	struct machine *machine =
		(struct machine *)((u8 *)cpu - offsetof(struct machine, cpu));

	memcpy(value, machine->vector[number], 16);
}

static void set_vector(struct processor *cpu, u32 number, const u64 value[2])
{
	struct machine *machine =
		(struct machine *)((u8 *)cpu - offsetof(struct machine, cpu));

	memcpy(machine->vector[number], value, 16);
}

static void make_machine(struct machine *machine, const uint8_t *data, size_t size)
{
	size_t most = sizeof(machine->general);
	u32 i;

	*machine = (struct machine){ .bus = { load, store, from_memory, to_memory },
				     .cpu = { .ip = &machine->ip,
					      .flags = &machine->flags,
					      .get_vector = get_vector,
					      .set_vector = set_vector },
				     .ip = BEGIN,
				     .flags = 0x202 };
	memcpy(machine->general, data, size < most ? size : most);
	for (i = 0; i < REGISTERS; i++)
		machine->cpu.general[i] = &machine->general[i];
}

static void carry_out(const struct instruction *in, const uint8_t *data, size_t size)
{
	struct machine machine, before;
	int ret;

	make_machine(&machine, data, size);
	before = machine;
	ret = instruction_emulate(in, &machine.cpu, machine.general[REGISTER_SI],
				  &machine.bus);
	CHECK(machine.touches <= TOUCHES_MAX);
	if (ret) {
		CHECK(ret == -EOPNOTSUPP || ret == -EFAULT);
		CHECK(!memcmp(&machine, &before, sizeof(machine)));
		return;
	}
	CHECK(machine.ip == BEGIN + in->length ||
	      (machine.ip == BEGIN && machine.general[REGISTER_CX]));
}

static int decode(struct instruction *in, const uint8_t *data, size_t bytes)
{
	u8 *copy = malloc(bytes ? bytes : 1);
	int ret;

	memcpy(copy, data, bytes);
	ret = instruction_decode(in, copy, bytes);
	free(copy);
	return ret;
}

static void try(const uint8_t *data, size_t size)
{
	struct instruction in, again;
	int ret = decode(&in, data, size);

	if (ret) {
		CHECK_EQ(ret, -EOPNOTSUPP);
		return;
	}
	CHECK(in.length <= size && in.length <= INSTRUCTION_BYTES_MAX);
	CHECK_EQ(decode(&again, data, in.length), 0);
	CHECK_EQ(again.length, in.length);
	CHECK_EQ(again.immediate, in.immediate);
	CHECK_EQ(again.displacement, in.displacement);
	CHECK_EQ(decode(&again, data, in.length - 1), -EOPNOTSUPP);
	in.segment = true; /* any address is right */
	carry_out(&in, data + in.length, size - in.length);
}

static int transplant(struct transplant *made, const uint8_t *data, size_t bytes)
{
	u8 *copy = malloc(bytes ? bytes : 1);
	int ret;

	memcpy(copy, data, bytes);
	ret = transplant_decode(made, copy, bytes);
	free(copy);
	return ret;
}

static void try_transplant(const uint8_t *data, size_t size)
{
	struct transplant made, again;
	int ret = transplant(&made, data, size);

	if (ret) {
		CHECK_EQ(ret, -EOPNOTSUPP);
		return;
	}
	CHECK(made.in.length <= size && made.in.length <= INSTRUCTION_BYTES_MAX);
	CHECK(made.bytes <= INSTRUCTION_BYTES_MAX &&
	      made.displacement + 4 <= made.bytes);
	CHECK_EQ(transplant(&again, data, made.in.length), 0);
	CHECK(!memcmp(&made, &again, sizeof(made)));
	CHECK_EQ(transplant(&again, data, made.in.length - 1), -EOPNOTSUPP);
}

/* Try an instruction at each byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at;

	for (at = 0; at <= size; at++) {
		try(data + at, size - at < 300 ? size - at : 300);
		try_transplant(data + at, size - at);
	}
	return 0;
}
