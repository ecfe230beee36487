// SPDX-License-Identifier: MIT
/*
 * odd ROUNDS: runs instructions that the bus does not know, on mapped registers of the
 * card odd (/dev/odd).
 *
 * Two threads meanwhile store all numbers in PLAIN, from the first to the last. If
 * ROUNDS is not 0, some more instructions are run once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "odd_instructions.h"

#define THREADS 2
#define PLAIN_STORES 20000

static odd_byte *page;
static sigjmp_buf after_signal;

static void *store_plainly(void *unused)
{
	unsigned int n;

	printf("plain %ld\n", syscall(SYS_gettid));
	for (n = 0; n < PLAIN_STORES; n++)
		ODD_AT(unsigned int, 0) = n;
	return unused;
}

/*
 * One read covers a register that a read clears and the doorbell. It must neither clear
 * the register nor ring.
 */
static void look(void)
{
	__asm__ volatile("fildll 0x138(%0)\n"
			 "fstp %%st(0)" ::"r"(page)
			 : "memory");
	printf("count %x\n", ODD_AT(unsigned int, 0x138));
}

static void say_saved(void)
{
	static uint8_t saved[ODD_SAVED] __attribute__((aligned(16)));
	unsigned int i;

	__asm__ volatile("movq %1, %%xmm3; fninit; fld1; fldpi\n"
			 "fxsave64 %0"
			 : "=m"(saved)
			 : "r"(0x1122334455667788ul)
			 : "xmm3", "memory");
	odd_save(page);
	__asm__ volatile("fninit");
	printf("saved ");
	for (i = 0; i < ODD_SAVED; i++)
		printf("%02x", saved[i]);
	printf("\n");
}

/* Restores from offsets without a register, where a load returns 0. */
static void restore_nothing(void)
{
	static uint8_t saved[ODD_SAVED] __attribute__((aligned(16)));
	uint64_t got[2];

	__asm__ volatile("fxsave64 %0\n"
			 "movups %2, %%xmm3\n"
			 "fxrstor64 0x600(%3)\n"
			 "movups %%xmm3, %1\n"
			 "fxrstor64 %0"
			 : "+m"(saved), "=m"(got)
			 : "m"(saved), "r"(page)
			 : "xmm3", "memory");
	printf("restored %lx %lx\n", got[0], got[1]);
}

__attribute__((target("avx"))) static void move_wide(void)
{
	uint64_t put[4] = { 0x0123456789abcdef, 0x1122334455667788, 0x99aabbccddeeff00,
			    0xfedcba9876543210 };
	uint64_t got[4] = {};

	__asm__ volatile("vmovdqu %1, %%ymm9\n"
			 "vmovdqu %%ymm9, 0x100(%2)\n"
			 "vpxor %%xmm9, %%xmm9, %%xmm9\n"
			 "vorps 0x100(%2), %%ymm9, %%ymm10\n"
			 "vmovups %%ymm10, %0"
			 : "=m"(got)
			 : "m"(put), "r"(page)
			 : "xmm9", "xmm10", "memory");
	printf("wide %d\n", memcmp(put, got, sizeof(put)));
}

static void come_back(int signal)
{
	siglongjmp(after_signal, signal);
}

/*
 * Runs an instruction that the bus can't carry out, and one that the processor refuses.
 */
static void be_refused(void)
{
	int signal = sigsetjmp(after_signal, 1);

	if (!signal)
		__asm__ volatile("pushq 0x100(%0)" ::"r"(page) : "memory");
	printf("push: signal %d\n", signal);
	ODD_HELD(0) = 0;
	signal = sigsetjmp(after_signal, 1);
	if (!signal)
		__asm__ volatile("divl 0x100(%0)" ::"r"(page) : "eax", "edx", "memory");
	printf("divide: signal %d\n", signal);
	signal = sigsetjmp(after_signal, 1);
	if (!signal)
		__asm__ volatile("fldl 0xffc(%0)" ::"r"(page) : "memory");
	printf("two pages: signal %d\n", signal);
}

static void do_once(void)
{
	look();
	say_saved();
	restore_nothing();
	if (__builtin_cpu_supports("avx"))
		move_wide();
	be_refused();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = come_back };
	unsigned int rounds = argc == 2 ? atoi(argv[1]) : 0, i, bad = 0;
	int file = open("/dev/odd", O_RDWR);
	pthread_t threads[THREADS];

	if (file < 0 || sigaction(SIGBUS, &action, NULL))
		return 1;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		return 1;
	setbuf(stdout, NULL);
	printf("odd %ld\n", syscall(SYS_gettid));
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, store_plainly, NULL);
	for (i = 1; i <= rounds; i++)
		bad += odd_x87(page, i) + odd_exchange(page, i) + odd_general(page, i);
	printf("bad %u\n", bad);
	if (rounds)
		do_once();
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
