// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "native.h"

#define PAGE 4096
#define SLOT_BYTES 15

/*
 * Two pages that are copied to where they run: the code, then struct native, followed
 * by the caller's stack pointer.  No instruction between the loads and the saves
 * changes the flags.
 */
asm(".pushsection .rodata\n"
    ".macro load name, number\n"
    "movdqu native_state+136+16*\\number(%rip), %xmm\\number\n"
    "mov native_state+8*\\number(%rip), %\\name\n"
    ".endm\n"
    ".macro save name, number\n"
    "movdqu %xmm\\number, native_state+136+16*\\number(%rip)\n"
    "mov %\\name, native_state+8*\\number(%rip)\n"
    ".endm\n"
    ".macro each do\n"
    "\\do rax, 0; \\do rcx, 1; \\do rdx, 2; \\do rbx, 3\n"
    "\\do rsp, 4; \\do rbp, 5; \\do rsi, 6; \\do rdi, 7\n"
    "\\do r8, 8; \\do r9, 9; \\do r10, 10; \\do r11, 11\n"
    "\\do r12, 12; \\do r13, 13; \\do r14, 14; \\do r15, 15\n"
    ".endm\n"
    ".balign 4096\n"
    "native_code:\n"
    "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "mov %rsp, native_state+392(%rip)\n"
    "pushq native_state+128(%rip)\n"
    "popfq\n"
    "each load\n"
    "native_slot:\n"
    ".fill 15, 1, 0x90\n"
    "each save\n"
    "mov native_state+392(%rip), %rsp\n"
    "pushfq\n"
    "popq native_state+128(%rip)\n"
    "cld\n"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "ret\n"
    ".balign 4096\n"
    "native_state:\n"
    ".fill 4096, 1, 0\n"
    ".popsection\n");

extern const u8 native_code[], native_slot[];

static u8 *region(void)
{
	static u8 *at;

	_Static_assert(offsetof(struct native, flags) == 128, "as above");
	_Static_assert(offsetof(struct native, vector) == 136, "as above");
	_Static_assert(sizeof(struct native) == 392, "as above");
	if (at)
		return at;
	at = mmap(NULL, 2 * PAGE + NATIVE_BLOCKS * NATIVE_BLOCK,
		  PROT_READ | PROT_WRITE | PROT_EXEC,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK(at != MAP_FAILED);
	memcpy(at, native_code, 2 * PAGE);
	CHECK(!syscall(SYS_arch_prctl, ARCH_SET_GS, NATIVE_GS));
	return at;
}

u8 *native_block(u32 which)
{
	return region() + 2 * PAGE + which * NATIVE_BLOCK;
}

static u8 *slot(void)
{
	return region() + (native_slot - native_code);
}

u64 native_end(void)
{
	return (u64)slot() + SLOT_BYTES;
}

void native_run(struct native *state, const u8 *code, u32 bytes)
{
	struct native *inside = (struct native *)(region() + PAGE);

	CHECK(bytes <= SLOT_BYTES);
	memset(slot(), 0x90, SLOT_BYTES - bytes); /* NOP */
	memcpy(slot() + SLOT_BYTES - bytes, code, bytes);
	*inside = *state;
	((void (*)(void))region())();
	*state = *inside;
}

const char *native_text(char text[NATIVE_TEXT], const u8 *code, u32 bytes)
{
	u32 i;

	text[0] = '\0';
	for (i = 0; i < bytes && 3 * i + 3 < NATIVE_TEXT; i++)
		sprintf(text + 3 * i, "%02x ", code[i]);
	return text;
}
