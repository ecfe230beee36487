// SPDX-License-Identifier: MIT
/*
 * Unsupported instructions are refused without a change to registers or memory, and without an
 * access to the device.
 */
#include <string.h>

#include "../../kernel/vpcib/instruction.h"
#include "check.h"

#define DEVICE 0x1000ull
#define BEGIN 0x400000ull
#define CODE(...)                                    \
	{                                            \
		sizeof((const u8[]){ __VA_ARGS__ }), \
		{                                    \
			__VA_ARGS__                  \
		}                                    \
	}

struct code {
	u32 bytes;
	u8 byte[INSTRUCTION_BYTES_MAX + 1];
};

/* RAX holds the device's address. */
static const struct code undecoded[] = {
	CODE(0x90), /* nop */
	CODE(0xc3), /* ret */
	CODE(0x04, 0x00), /* add $0, %al */
	CODE(0x05, 0x00, 0, 0, 0), /* add $0, %eax */
	CODE(0x06, 0x00), /* none in 64-bit code */
	CODE(0x3f, 0x00), /* none in 64-bit code */
	CODE(0x7f, 0x00), /* jg */
	CODE(0x50), /* push %rax */
	CODE(0x8f, 0x00), /* pop (%rax) */
	CODE(0x89, 0xc0), /* mov %eax, %eax: no operand in memory */
	CODE(0x0f, 0xb6, 0xc0), /* movzbl %al, %eax */
	CODE(0x0f, 0x20, 0x00), /* mov %cr0, %rax */
	CODE(0x0f, 0x22, 0x00), /* mov %rax, %cr0 */
	CODE(0x82, 0x00, 0x01), /* none in 64-bit code */
	CODE(0x8c, 0x00), /* mov %es, (%rax) */
	CODE(0x8d, 0x00), /* lea (%rax), %eax */
	CODE(0x8e, 0x00), /* mov (%rax), %es */
	CODE(0xcf, 0x00), /* iret */
	CODE(0xd4, 0x00), /* none in 64-bit code */
	CODE(0x0f, 0x94, 0x00), /* sete (%rax) */
	CODE(0x0f, 0x44, 0x00), /* cmove (%rax), %eax */
	CODE(0x0f, 0xbc, 0x00), /* bsf (%rax), %eax */
	CODE(0xf3, 0x0f, 0xb8, 0x00), /* popcnt (%rax), %eax */
	CODE(0x0f, 0xa3, 0x00), /* bt %eax, (%rax): the bit number moves the address */
	CODE(0x0f, 0xab, 0x00), /* bts %eax, (%rax) */
	CODE(0x0f, 0xc7, 0x08), /* cmpxchg8b (%rax) */
	CODE(0x0f, 0xae, 0x38), /* clflush (%rax) */
	CODE(0x0f, 0x6f, 0x00), /* movq (%rax), %mm0 */
	CODE(0x0f, 0x58, 0x00), /* addps (%rax), %xmm0 */
	CODE(0x66, 0x0f, 0xfc, 0x00), /* paddb (%rax), %xmm0 */
	CODE(0x0f, 0x38, 0xf0, 0x00), /* movbe (%rax), %eax */
	CODE(0xa6), /* cmpsb */
	CODE(0xae), /* scasb */
	CODE(0x6c), /* insb */
	CODE(0xd8, 0x00), /* fadds (%rax) */
	CODE(0x67, 0x8b, 0x00), /* mov (%eax), %eax */
	CODE(0x67, 0xa4), /* movsb of 32-bit addresses */
	CODE(0x64, 0xa4), /* movsb %fs:(%rsi), (%rdi) */
	CODE(0x48, 0x48, 0x8b, 0x00), /* REX twice */
	CODE(0x48, 0x66, 0x8b, 0x00), /* REX is not last */
	CODE(0xc5, 0xfa, 0x6f, 0x00), /* vmovdqu (%rax), %xmm0 */
	CODE(0xc4, 0xe1, 0x7a, 0x6f, 0x00), /* the same in three bytes */
	CODE(0x62, 0xf1, 0x7f, 0x48, 0x6f, 0x00), /* vmovdqu8 (%rax), %zmm0 */
	CODE(0x8f, 0xe8, 0x78, 0xa2, 0x00), /* XOP */
	CODE(0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e,
	     0x2e, 0x2e, 0x8b, 0x00), /* 16 bytes */
};

/* Decoded, since their opcodes are known, but refused. */
static const struct code refused[] = {
	CODE(0xff, 0x30), /* push (%rax) */
	CODE(0xff, 0x10), /* call *(%rax) */
	CODE(0xff, 0x20), /* jmp *(%rax) */
	CODE(0xff, 0x38), /* no instruction */
	CODE(0xfe, 0x10), /* no instruction */
	CODE(0xc6, 0x08, 0x01), /* no instruction */
	CODE(0xc7, 0x38, 0x01, 0, 0, 0), /* no instruction */
	CODE(0xf6, 0x20), /* mulb (%rax) */
	CODE(0xf7, 0x30), /* divl (%rax) */
	CODE(0x0f, 0xba, 0x00, 0x01), /* no instruction */
	CODE(0x0f, 0xba, 0x18, 0x01), /* no instruction */
	CODE(0x66, 0x63,
	     0x00), /* movsxd (%rax), %ax: the access width depends on the vendor */
	CODE(0x66, 0x0f, 0xc3, 0x00), /* no instruction */
	CODE(0xf3, 0x0f, 0xc3, 0x00), /* no instruction */
};

/* A bus whose device counts accesses, and whose memory accesses fail. */
struct deaf_bus {
	struct device_bus bus;
	u32 touched;
};

static u64 load(struct device_bus *bus, u64 address, u32 bytes)
{
	((struct deaf_bus *)bus)->touched++;
	return 0;
}

static void store(struct device_bus *bus, u64 address, u64 value, u32 bytes)
{
	((struct deaf_bus *)bus)->touched++;
}

static int no_memory(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	return -EFAULT;
}

static int read_only_memory(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	memset(to, 0, bytes);
	return 0;
}

static int no_write(struct device_bus *bus, u64 to, const void *from, u32 bytes)
{
	return -EFAULT;
}

/* Emulate an instruction on a processor without vector registers; return the result. */
static int run(const struct code *code, unsigned long general[REGISTERS], u64 address,
	       struct deaf_bus *bus)
{
	unsigned long ip = BEGIN, flags = 0x202, before[REGISTERS];
	struct processor cpu = { .ip = &ip, .flags = &flags };
	struct instruction in;
	int ret;
	u32 i;

	for (i = 0; i < REGISTERS; i++)
		cpu.general[i] = &general[i];
	memcpy(before, general, sizeof(before));
	ret = instruction_decode(&in, code->byte, code->bytes);
	if (!ret)
		ret = instruction_emulate(&in, &cpu, address, &bus->bus);
	if (ret) {
		CHECK(!memcmp(before, general, sizeof(before)));
		CHECK_EQ(ip, BEGIN);
		CHECK_EQ(flags, 0x202);
	} else {
		CHECK_EQ(ip, BEGIN + code->bytes);
	}
	return ret;
}

static struct deaf_bus deaf(int (*from)(struct device_bus *, void *, u64, u32))
{
	return (struct deaf_bus){ .bus = { load, store, from, no_write } };
}

static void test_undecoded(void)
{
	struct instruction in;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(undecoded); i++) {
		check_seed = i; /* tells which */
		CHECK_EQ(instruction_decode(&in, undecoded[i].byte, undecoded[i].bytes),
			 -EOPNOTSUPP);
	}
	check_seed = 0;
}

static void test_refused(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		unsigned long general[REGISTERS] = { [REGISTER_AX] = DEVICE };
		struct deaf_bus bus = deaf(no_memory);

		check_seed = i;
		CHECK_EQ(run(&refused[i], general, DEVICE, &bus), -EOPNOTSUPP);
		CHECK_EQ(bus.touched, 0);
	}
	check_seed = 0;
}

/*
 * The fault's address is not the operand's: the operand begins on the previous page, or the code
 * has changed.
 */
static void test_operand_elsewhere(void)
{
	static const struct code touching[] = {
		CODE(0x8b, 0x00), /* mov (%rax), %eax */
		CODE(0x89, 0x48, 0x04), /* mov %ecx, 4(%rax) */
		CODE(0xf0, 0xff, 0x04, 0xc8), /* lock incl (%rax, %rcx, 8) */
		CODE(0x8b, 0x05, 0, 0, 0, 0), /* mov (%rip), %eax */
		CODE(0xa1, 0, 0x20, 0, 0, 0, 0, 0, 0), /* movabs 0x2000, %eax */
		CODE(0xaa), /* stosb */
		CODE(0xac), /* lodsb */
		CODE(0xa5), /* movsl */
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(touching); i++) {
		unsigned long general[REGISTERS] = { [REGISTER_AX] = DEVICE - 2,
						     [REGISTER_SI] = DEVICE - 2,
						     [REGISTER_DI] = DEVICE - 2 };
		struct deaf_bus bus = deaf(read_only_memory);

		check_seed = i;
		CHECK_EQ(run(&touching[i], general, DEVICE, &bus), -EOPNOTSUPP);
		CHECK_EQ(bus.touched, 0);
	}
	check_seed = 0;
}

/* The device's address is in the string register that the instruction does not use. */
static void test_other_register(void)
{
	const struct code stosb = CODE(0xaa), lodsb = CODE(0xac);
	unsigned long general[REGISTERS] = { [REGISTER_SI] = DEVICE };
	struct deaf_bus bus = deaf(no_memory);

	CHECK_EQ(run(&stosb, general, DEVICE, &bus), -EOPNOTSUPP);
	general[REGISTER_SI] = 0;
	general[REGISTER_DI] = DEVICE;
	CHECK_EQ(run(&lodsb, general, DEVICE, &bus), -EOPNOTSUPP);
	CHECK_EQ(bus.touched, 0);
}

/* Reading the device can change it, so a copy reads the device only if memory accepts the write. */
static void test_memory_that_fails(void)
{
	const struct code movsl = CODE(0xa5);
	unsigned long general[REGISTERS] = {
		[REGISTER_SI] = DEVICE, [REGISTER_DI] = 0x9000
	};
	struct deaf_bus bus = deaf(no_memory);

	CHECK_EQ(run(&movsl, general, DEVICE, &bus), -EFAULT);
	CHECK_EQ(bus.touched, 0);
	bus = deaf(read_only_memory);
	CHECK_EQ(run(&movsl, general, DEVICE, &bus), -EFAULT);
	CHECK_EQ(bus.touched, 0);
	general[REGISTER_SI] = 0x9000;
	general[REGISTER_DI] = DEVICE;
	bus = deaf(no_memory);
	CHECK_EQ(run(&movsl, general, DEVICE, &bus), -EFAULT);
	CHECK_EQ(bus.touched, 0);
}

static void test_no_vectors(void)
{
	const struct code movups = CODE(0x0f, 0x11, 0x00);
	unsigned long general[REGISTERS] = { [REGISTER_AX] = DEVICE };
	struct deaf_bus bus = deaf(no_memory);

	CHECK_EQ(run(&movups, general, DEVICE, &bus), -EOPNOTSUPP);
	CHECK_EQ(bus.touched, 0);
}

/* FS has a base of its own, so the operand's address is unknown. */
static void test_segments(void)
{
	const struct code fs = CODE(0x64, 0x89, 0x08), ds = CODE(0x3e, 0x89, 0x08);
	unsigned long general[REGISTERS] = { [REGISTER_AX] = 0x10 };
	struct deaf_bus bus = deaf(no_memory);

	CHECK_EQ(run(&fs, general, DEVICE, &bus), 0);
	CHECK_EQ(bus.touched, 1);
	CHECK_EQ(run(&ds, general, DEVICE, &bus), -EOPNOTSUPP);
	CHECK_EQ(bus.touched, 1);
}

int main(void)
{
	test_undecoded();
	test_refused();
	test_operand_elsewhere();
	test_other_register();
	test_memory_that_fails();
	test_no_vectors();
	test_segments();
	return 0;
}
