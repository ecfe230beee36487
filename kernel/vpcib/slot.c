// SPDX-License-Identifier: GPL-2.0
/*
 * The slot is in this module's text, which is read-only.  So the slot is written through a second
 * mapping of its page.  The same processor writes the slot and runs it.  Between the two,
 * sync_core() makes the processor fetch the new bytes.  Meanwhile no other processor runs the slot,
 * since the writer holds a lock.
 *
 * The instruction may fault: its operand may have an invalid value, or the processor may not
 * support the opcode.  So the slot has an entry in the exception table, like kernel code that may
 * fault.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/linkage.h>
#include <linux/mm.h>
#include <linux/objtool.h>
#include <linux/vmalloc.h>
#include <asm/asm.h>
#include <asm/sync_core.h>

#include "slot.h"

#define SLOT_BYTES 16
#define NOP 0x90
#define ARITHMETIC_FLAGS 0x8d5ul /* OF SF ZF AF PF CF */

/*
 * The general registers except RSP, by their numbers, and the flags.  The assembly code below uses
 * the offsets of the fields.
 */
struct slot_registers {
	unsigned long general[REGISTERS];
	unsigned long flags;
};

/* Between the slot and the saving of the flags, no instruction changes the flags. */
asm(".pushsection .text\n"
    ".macro vpcib_each do\n"
    "\\do rax, 0; \\do rcx, 8; \\do rdx, 16; \\do rbx, 24; \\do rbp, 40; \\do rsi, 48\n"
    "\\do r8, 64; \\do r9, 72; \\do r10, 80; \\do r11, 88\n"
    "\\do r12, 96; \\do r13, 104; \\do r14, 112; \\do r15, 120\n"
    ".endm\n"
    ".macro vpcib_take name, at\n"
    "mov \\at(%rdi), %\\name\n"
    ".endm\n"
    ".macro vpcib_keep name, at\n"
    "mov %\\name, \\at(%rdi)\n"
    ".endm\n"
    ".balign 64\n"
    ".type vpcib_run, @function\n"
    "vpcib_run:\n"
    "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "push %rdi\n"
    "pushq 128(%rdi)\n"
    "popfq\n"
    "vpcib_each vpcib_take\n"
    "mov 56(%rdi), %rdi\n"
    ".balign 16, 0x90\n"
    "vpcib_slot:\n" ANNOTATE_NOENDBR /* no code jumps to the address */
    ".fill 16, 1, 0x90\n"
    "xchg %rdi, (%rsp)\n"
    "vpcib_each vpcib_keep\n"
    "popq 56(%rdi)\n"
    "pushfq\n"
    "popq 128(%rdi)\n"
    "mov $0, %eax\n"
    "1: pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n" ASM_RET
    "vpcib_refused:\n"
    "pop %rdi\n"
    "mov $1, %eax\n"
    "jmp 1b\n"
    ".size vpcib_run, . - vpcib_run\n"
    ".purgem vpcib_each\n"
    ".purgem vpcib_take\n"
    ".purgem vpcib_keep\n"
    ".popsection\n");
asm(_ASM_EXTABLE(vpcib_slot, vpcib_refused));

extern u8 vpcib_slot[];
extern int vpcib_run(struct slot_registers *registers);

static void *writable; /* a writable mapping of the slot's page */

/*
 * Writes an instruction into the slot.  A module is smaller than 2 GB, so a 32-bit displacement can
 * reach the module's data from its code.
 */
static void write_slot(const struct transplant *what, const void *operand)
{
	u8 code[SLOT_BYTES];
	s32 way = (s32)((long)operand - (long)(vpcib_slot + what->bytes));

	memset(code, NOP, sizeof(code));
	memcpy(code, what->code, what->bytes);
	memcpy(code + what->displacement, &way, sizeof(way));
	memcpy(writable + offset_in_page(vpcib_slot), code, sizeof(code));
	sync_core();
}

/*
 * Returns the register values for the slot.  The arithmetic flags are the driver's, and all other
 * flags are the kernel's.
 */
static struct slot_registers registers_of(const struct processor *cpu)
{
	struct slot_registers registers;
	u32 i;

	for (i = 0; i < REGISTERS; i++)
		registers.general[i] = *cpu->general[i];
	registers.flags = (native_save_fl() & ~ARITHMETIC_FLAGS) |
			  (*cpu->flags & ARITHMETIC_FLAGS);
	return registers;
}

int slot_run(const struct transplant *what, struct processor *cpu, void *operand)
{
	struct slot_registers registers = registers_of(cpu);
	u32 i;

	write_slot(what, operand);
	if (vpcib_run(&registers))
		return -EOPNOTSUPP;
	for (i = 0; i < REGISTERS; i++)
		*cpu->general[i] = registers.general[i];
	*cpu->flags = (*cpu->flags & ~ARITHMETIC_FLAGS) |
		      (registers.flags & ARITHMETIC_FLAGS);
	return 0;
}

int slot_init(void)
{
	struct page *page = vmalloc_to_page(vpcib_slot);

	writable = vmap(&page, 1, VM_MAP, PAGE_KERNEL);
	return writable ? 0 : -ENOMEM;
}

void slot_exit(void)
{
	vunmap(writable);
}
