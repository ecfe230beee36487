// SPDX-License-Identifier: GPL-2.0
/*
 * trapped_user: a process that accesses the copier's registers in ways that are more
 * than one load or store, and prints the results.
 *
 * tests/vm/test_card_instructions.py compares the output and the journal with what each
 * access means.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define SOURCE 0x8
#define DESTINATION 0x10

static uint8_t *registers;
static sigjmp_buf after_signal;

static void come_back(int signal)
{
	siglongjmp(after_signal, signal);
}

/* Maps pages that have not been touched yet. */
static uint8_t *fresh_pages(void)
{
	return mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
}

/* Copies registers to untouched memory; the first copy crosses two pages. */
static void copy_to_fresh(void)
{
	uint8_t *begin = fresh_pages() + PAGE - 4, *to = begin;
	uint8_t *from = registers;
	unsigned long count = 3, value[3];

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count)::"memory");
	memcpy(value, begin, sizeof(value));
	printf("copied %lx %lx %lx\n", value[0], value[1], value[2]);
}

/*
 * Copies by an SSE register, while other processes compute. Neighbouring SSE registers
 * must keep their values.
 */
static void move_vectors(void)
{
	uint64_t put[2] = { 0x1122334455667788, 0x99aabbccddeeff00 };
	uint64_t kept[2] = { 0x5a5a5a5a5a5a5a5a, 0xa5a5a5a5a5a5a5a5 };
	uint64_t got[2], below[2], above[2];
	unsigned int n, bad = 0;

	for (n = 0; n < 2000; n++) {
		put[0] += n;
		__asm__ volatile("movups %4, %%xmm8\n"
				 "movups %5, %%xmm9\n"
				 "movups %5, %%xmm11\n"
				 "movups %%xmm8, 0x8(%3)\n"
				 "movups 0x8(%3), %%xmm10\n"
				 "movups %%xmm10, %0\n"
				 "movups %%xmm9, %1\n"
				 "movups %%xmm11, %2"
				 : "=m"(got), "=m"(below), "=m"(above)
				 : "r"(registers), "m"(put), "m"(kept)
				 : "xmm8", "xmm9", "xmm10", "xmm11", "memory");
		bad += memcmp(put, got, 16) || memcmp(kept, below, 16) ||
		       memcmp(kept, above, 16);
	}
	printf("vectors %u bad, last %lx\n", bad, put[0]);
}

/*
 * The kernel carries out a futex operation on a register, in a context that must not
 * sleep.
 */
static void ask_kernel(void)
{
	uint32_t word = 0;
	long ret = syscall(SYS_futex, &word, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, 1,
			   registers + SOURCE,
			   FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 0));

	printf("futex %ld\n", ret);
	*(volatile uint32_t *)(registers + DESTINATION) = 0x5eed;
}

/* The kernel copies between registers and the pages of a file. */
static void copy_to_file(void)
{
	const uint64_t put[2] = { 0x0102030405060708, 0x1112131415161718 };
	volatile uint64_t *both = (void *)(registers + SOURCE);
	uint64_t got[2] = { 0, 0 };
	int file = open("/copied", O_RDWR | O_CREAT | O_TRUNC, 0600);

	both[0] = put[0];
	both[1] = put[1];
	if (write(file, registers + SOURCE, 16) != 16 || pread(file, got, 16, 0) != 16)
		printf("no write\n");
	printf("in the file %lx %lx\n", got[0], got[1]);
	if (pwrite(file, &put[1], 8, 0) != 8 ||
	    pread(file, registers + SOURCE, 8, 0) != 8)
		printf("no read\n");
	printf("in the register %lx\n", both[0]);
	close(file);
}

/* A processor may read an operand before it finds that the operand is read-only. */
static void change_what_may_be_read(uint8_t *readable)
{
	uint64_t kept = *(volatile uint64_t *)(registers + SOURCE);
	int signal = sigsetjmp(after_signal, 1);

	if (!signal)
		__asm__ volatile("addq $1, %0"
				 : "+m"(*(uint64_t *)(readable + SOURCE)));
	printf("changed: signal %d\n", signal);
	signal = sigsetjmp(after_signal, 1);
	if (!signal)
		__asm__ volatile("shld $8, %1, %0"
				 : "+m"(*(uint64_t *)(readable + SOURCE))
				 : "r"(~kept));
	printf("shifted: signal %d\n", signal);
	printf("kept %d\n", *(volatile uint64_t *)(registers + SOURCE) == kept);
}

/* The kernel must not write to a page for a process that may not write there itself. */
static void copy_to_what_may_be_read(int card)
{
	uint8_t *readable = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, card, 0);
	int zeroes = open("/dev/zero", O_RDONLY);

	printf("read into it %zd\n", read(zeroes, readable + SOURCE, 8));
	close(zeroes);
	change_what_may_be_read(readable);
}

/* In 32-bit code, 48 is DEC EAX and not a prefix; MOV of EBX to (EDI) follows. */
static void run_32_bit_code(void)
{
	int signal = sigsetjmp(after_signal, 1);

	if (!signal)
		__asm__ volatile("pushq $0x23\n"
				 "pushq $1f\n"
				 "lretq\n"
				 ".code32\n"
				 "1: .byte 0x48, 0x89, 0x1f\n"
				 ".code64\n" ::"D"(registers + DESTINATION));
	printf("32-bit code: signal %d\n", signal);
}

int main(void)
{
	static uint8_t stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = come_back, .sa_flags = SA_ONSTACK };
	int file = open("/dev/hammer", O_RDWR);

	registers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT,
			 file, 0);
	if (registers == MAP_FAILED || sigaltstack(&other, NULL) ||
	    sigaction(SIGBUS, &action, NULL) || sigaction(SIGSEGV, &action, NULL))
		return 1;
	setbuf(stdout, NULL);
	printf("pid %d\n", getpid());
	move_vectors();
	copy_to_fresh();
	ask_kernel();
	copy_to_file();
	copy_to_what_may_be_read(file);
	run_32_bit_code();
	return 0;
}
