// SPDX-License-Identifier: MIT
/*
 * trapped: run each idiom twice, on ordinary memory and on an inaccessible page whose faults are
 * decoded and emulated on a copy.  Result and contents must be equal.
 *
 * Print a line for each idiom: its name, and its accesses in order, as r or w, bytes @ offset.  In
 * place of the accesses, the line may show the instruction that could not be decoded, or "differs".
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../../kernel/vpcib/instruction.h"
#include "idioms.h"

#define PAGE 4096
#define ACCESSES_MAX 4096

/* The device: its bus, its contents, and the accesses to it. */
static struct {
	struct device_bus bus;
	uint8_t *page;
	uint8_t content[PAGE];
	struct {
		char what;
		uint32_t offset, bytes;
	} access[ACCESSES_MAX];
	uint32_t accesses;
} device;

static ucontext_t *at_fault;
static sigjmp_buf give_up;

static uint8_t *touch(char what, uint64_t address, uint32_t bytes)
{
	uint64_t offset = address - (uint64_t)device.page;

	if (offset > PAGE - bytes || device.accesses == ACCESSES_MAX)
		abort();
	device.access[device.accesses].what = what;
	device.access[device.accesses].offset = offset;
	device.access[device.accesses++].bytes = bytes;
	return device.content + offset;
}

static uint64_t load(struct device_bus *bus, uint64_t address, uint32_t bytes)
{
	uint64_t value = 0;

	(void)bus;
	memcpy(&value, touch('r', address, bytes), bytes);
	return value;
}

static void store(struct device_bus *bus, uint64_t address, uint64_t value,
		  uint32_t bytes)
{
	(void)bus;
	memcpy(touch('w', address, bytes), &value, bytes);
}

static int from_memory(struct device_bus *bus, void *to, uint64_t from, uint32_t bytes)
{
	(void)bus;
	memcpy(to, (void *)from, bytes);
	return 0;
}

static int to_memory(struct device_bus *bus, uint64_t to, const void *from,
		     uint32_t bytes)
{
	(void)bus;
	memcpy((void *)to, from, bytes);
	return 0;
}

static void get_vector(struct processor *cpu, uint32_t number, uint64_t value[2])
{
	(void)cpu;
	memcpy(value, &at_fault->uc_mcontext.fpregs->_xmm[number], 16);
}

static void set_vector(struct processor *cpu, uint32_t number, const uint64_t value[2])
{
	(void)cpu;
	memcpy(&at_fault->uc_mcontext.fpregs->_xmm[number], value, 16);
}

static struct processor processor_at_fault(void)
{
	static const int number[REGISTERS] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};
	unsigned long *general = (unsigned long *)at_fault->uc_mcontext.gregs;
	struct processor cpu = { .ip = &general[REG_RIP],
				 .flags = &general[REG_EFL],
				 .get_vector = get_vector,
				 .set_vector = set_vector };
	int i;

	for (i = 0; i < REGISTERS; i++)
		cpu.general[i] = &general[number[i]];
	return cpu;
}

static void carry_out(int signal, siginfo_t *info, void *context)
{
	struct processor cpu;
	struct instruction in;

	(void)signal;
	at_fault = context;
	cpu = processor_at_fault();
	if (instruction_decode(&in, (uint8_t *)*cpu.ip, INSTRUCTION_BYTES_MAX) ||
	    instruction_emulate(&in, &cpu, (uint64_t)info->si_addr, &device.bus))
		siglongjmp(give_up, 1);
}

static void fill(uint8_t *content)
{
	uint32_t seed = 1, i;

	for (i = 0; i < PAGE; i++) {
		seed = seed * 1103515245 + 12345;
		content[i] = seed >> 16;
	}
}

static void print_unknown(void)
{
	const uint8_t *code = (uint8_t *)at_fault->uc_mcontext.gregs[REG_RIP];
	int i;

	printf(" can't decode");
	for (i = 0; i < INSTRUCTION_BYTES_MAX; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

static void print_accesses(void)
{
	uint32_t i;

	for (i = 0; i < device.accesses; i++)
		printf(" %c%u@%u", device.access[i].what, device.access[i].bytes,
		       device.access[i].offset);
	printf("\n");
}

static void compare(const struct idiom *idiom)
{
	static uint8_t ordinary[PAGE] __attribute__((aligned(PAGE)));
	uint64_t want, got;

	fill(ordinary);
	fill(device.content);
	device.accesses = 0;
	want = idiom->run(ordinary);
	printf("%s:", idiom->name);
	if (sigsetjmp(give_up, 1)) {
		print_unknown();
		return;
	}
	got = idiom->run(device.page);
	if (got != want || memcmp(ordinary, device.content, PAGE))
		printf(" differs\n");
	else
		print_accesses();
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = carry_out, .sa_flags = SA_SIGINFO };
	const struct idiom *idiom;

	device.bus = (struct device_bus){ load, store, from_memory, to_memory };
	device.page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (device.page == MAP_FAILED || sigaction(SIGSEGV, &action, NULL))
		return 1;
	for (idiom = exact; idiom->name; idiom++)
		compare(idiom);
	for (idiom = free_of_order; idiom->name; idiom++)
		compare(idiom);
	return 0;
}
