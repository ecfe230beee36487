// SPDX-License-Identifier: MIT
/*
 * fuzzed SEED TRIES: runs random instructions on mapped registers of the card odd
 * (/dev/odd).
 *
 * All general registers point there. Half of the instructions are random bytes, and
 * half look like instructions with an operand in memory. Each instruction ends in a
 * signal, at the latest from the UD2 that follows. Child processes run them, since an
 * instruction may unmap its process's own memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define TRIES_OF_CHILD 200
#define LONGEST 15
#define TIMEOUT_US 100000

static uint64_t start[16]; /* general registers, by their numbers */
static uint8_t *code __attribute__((used));

static uint64_t state;
static uint8_t *registers;
static sigjmp_buf after_signal;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 20) % below;
}

static uint32_t put_one_of(uint8_t *to, const char *bytes, uint32_t count)
{
	*to = bytes[draw(count)];
	return 1;
}

/* Writes a VEX prefix of two or three bytes. */
static uint32_t put_vex(uint8_t *to)
{
	if (draw(2)) {
		to[0] = 0xc5;
		to[1] = draw(256);
		return 2;
	}
	to[0] = 0xc4;
	to[1] = draw(8) << 5 | (1 + draw(3));
	to[2] = draw(256);
	return 3;
}

static uint32_t put_prefixes(uint8_t *to)
{
	uint32_t n = 0;

	while (draw(3) == 0 && n < 3)
		n += put_one_of(to + n, "\x66\xf2\xf3\xf0\x2e\x67\x65", 7);
	if (draw(3) == 0)
		to[n++] = 0x40 | draw(16);
	return n;
}

static uint32_t put_opcode(uint8_t *to)
{
	uint32_t n = 0;

	switch (draw(6)) {
	case 0:
		to[n++] = 0xd8 + draw(8);
		return n;
	case 1:
		n = put_vex(to);
		break;
	case 2:
		to[n++] = 0x0f;
		n += put_one_of(to + n, "\x38\x3a", 2);
		break;
	case 3:
		break;
	default:
		to[n++] = 0x0f;
	}
	to[n++] = draw(256);
	return n;
}

static void draw_instruction(uint8_t *to)
{
	uint32_t n = 0, i;

	for (i = 0; i < LONGEST; i++)
		to[i] = draw(256);
	if (draw(2))
		return;
	n = put_prefixes(to);
	n += put_opcode(to + n);
	to[n] = draw(2) << 6 | draw(64); /* ModR/M, with memory */
}

/*
 * Leaves out system calls, which would have effects, and far returns. QEMU 7.2 reads
 * the stack of a far return with the kernel's rights, so that any process could crash
 * the guest.
 */
static int is_left_out(const uint8_t *at)
{
	uint32_t i;

	for (i = 0; i < LONGEST; i++) {
		if (at[i] == 0xcd || at[i] == 0xca || at[i] == 0xcb || at[i] == 0xcf ||
		    (at[i] == 0x0f && (at[i + 1] == 0x05 || at[i + 1] == 0x34)))
			return 1;
	}
	return 0;
}

static void come_back(int signal)
{
	siglongjmp(after_signal, signal);
}

static void run(void)
{
	__asm__ volatile("mov %0, %%rax\n"
			 "mov 8(%%rax), %%rcx\n"
			 "mov 16(%%rax), %%rdx\n"
			 "mov 24(%%rax), %%rbx\n"
			 "mov 32(%%rax), %%rsp\n"
			 "mov 40(%%rax), %%rbp\n"
			 "mov 48(%%rax), %%rsi\n"
			 "mov 56(%%rax), %%rdi\n"
			 "mov 64(%%rax), %%r8\n"
			 "mov 72(%%rax), %%r9\n"
			 "mov 80(%%rax), %%r10\n"
			 "mov 88(%%rax), %%r11\n"
			 "mov 96(%%rax), %%r12\n"
			 "mov 104(%%rax), %%r13\n"
			 "mov 112(%%rax), %%r14\n"
			 "mov 120(%%rax), %%r15\n"
			 "mov (%%rax), %%rax\n"
			 "jmp *code(%%rip)" ::"r"(start)
			 : "memory");
	__builtin_unreachable();
}

static void try(void)
{
	struct itimerval soon = { .it_value.tv_usec = TIMEOUT_US };
	uint32_t i;

	for (i = 0; i < PAGE; i += 2)
		memcpy(code + i, "\x0f\x0b", 2); /* UD2 */
	do
		draw_instruction(code);
	while (is_left_out(code));
	for (i = 0; i < 16; i++)
		start[i] = (uint64_t)registers + 0x100 + 4 * draw(24);
	setitimer(ITIMER_REAL, &soon, NULL);
	if (!sigsetjmp(after_signal, 1))
		run();
}

static void try_many(uint32_t tries)
{
	static const int signals[] = { SIGILL,	SIGSEGV, SIGBUS, SIGFPE,
				       SIGTRAP, SIGALRM, SIGSYS };
	static uint8_t stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = come_back, .sa_flags = SA_ONSTACK };
	uint32_t i;

	sigaltstack(&other, NULL);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	while (tries--)
		try();
	_exit(0);
}

int main(int argc, char **argv)
{
	int file = argc == 3 ? open("/dev/odd", O_RDWR) : -1;
	uint32_t tries = file < 0 ? 0 : atoi(argv[2]), children = 0, ended = 0;

	if (file < 0)
		return 1;
	registers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT,
			 file, 0);
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (registers == MAP_FAILED || code == MAP_FAILED)
		return 1;
	for (; children * TRIES_OF_CHILD < tries; children++) {
		int status = 0;
		pid_t pid;

		state = strtoull(argv[1], NULL, 0) * 1000003 + children;
		pid = fork();
		if (!pid)
			try_many(TRIES_OF_CHILD);
		waitpid(pid, &status, 0);
		ended += !status;
	}
	printf("children %u ended %u\n", children, ended);
	return 0;
}
