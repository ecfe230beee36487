// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the page fault of each load and store of a card's register into an access to the card.
 *
 * Kernel code's faults are handled in fixup_exception, in any context, with interrupts off.  Faults
 * of copies from and to processes are handled there too, if the copying code must not sleep.
 * Processes' faults are handled in handle_mm_fault, which is called with the registers at the fault
 * and with mmap_lock held for reading.  The card is locked during each access to it, and the
 * instruction pointer is advanced.  So the card sees each access once, with its value and width,
 * and the instruction's effect is complete before the next instruction begins.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/trap_pf.h>
#include <asm/trapnr.h>

#include "bus.h"
#include "compat.h"
#include "fallback.h"
#include "../iprobe/iprobe.h"

static struct iprobe kernel_probe;
static struct iprobe user_probe;

/* Returns pointers to the registers, in the order of their numbers in instructions. */
static struct processor processor_of(struct pt_regs *regs)
{
	return (struct processor){
		.general = { &regs->ax, &regs->cx, &regs->dx, &regs->bx, &regs->sp,
			     &regs->bp, &regs->si, &regs->di, &regs->r8, &regs->r9,
			     &regs->r10, &regs->r11, &regs->r12, &regs->r13, &regs->r14,
			     &regs->r15 },
		.ip = &regs->ip,
		.flags = &regs->flags,
		.get_vector = user_mode(regs) ? vector_of_user : NULL,
		.set_vector = user_mode(regs) ? set_vector_of_user : NULL,
	};
}

/*
 * Reads the bytes of the instruction.  If the next page is missing, returns only the bytes in the
 * first page.
 */
static size_t fetch(const struct access_bus *at, u8 *code)
{
	size_t bytes = INSTRUCTION_BYTES_MAX;
	struct device_bus *bus = (struct device_bus *)&at->bus;

	if (!bus->from_memory(bus, code, at->ip, bytes))
		return bytes;
	bytes = min_t(size_t, bytes, PAGE_SIZE - offset_in_page(at->ip));
	return bus->from_memory(bus, code, at->ip, bytes) ? 0 : bytes;
}

static void note_unknown(const struct access_bus *at, const u8 *code)
{
	if (at->card)
		bus_note(at, VPCIB_UNKNOWN, at->offset, code_value(code), 0);
	pr_err_ratelimited("an instruction that can't be decoded at %pS: %*ph\n",
			   (void *)at->ip, INSTRUCTION_BYTES_MAX, code);
}

/* Tries to execute the instruction.  The code must be 64-bit code. */
static int try(struct access_bus *at, struct processor *cpu, const u8 *code,
	       size_t bytes)
{
	struct instruction in;
	int ret = instruction_decode(&in, code, bytes);

	if (!ret)
		ret = instruction_emulate(&in, cpu, at->address, &at->bus);
	return ret == -EOPNOTSUPP ? fallback_carry_out(at, cpu, code, bytes) : ret;
}

static int carry_out(struct access_bus *at, struct pt_regs *regs)
{
	struct processor cpu = processor_of(regs);
	u8 code[INSTRUCTION_BYTES_MAX] = {};
	size_t bytes = fetch(at, code);
	int ret;

	if (!bytes)
		return -EFAULT;
	ret = any_64bit_mode(regs) ? try(at, &cpu, code, bytes) : -EOPNOTSUPP;
	if (ret == -EOPNOTSUPP)
		note_unknown(at, code);
	return ret;
}

/* Pages in a process's missing memory, so that the instruction can be tried again. */
static int bring_in(const struct access_bus *at)
{
	unsigned long first = at->missing.address, last = first + at->missing.bytes - 1;
	unsigned int flags = at->missing.flags;

	return fixup_user_fault(current->mm, first, flags, NULL)
		       ?: fixup_user_fault(current->mm, last, flags, NULL);
}

/*
 * Carries out the access by an instruction that faulted at `address`, which is mapped to the bus
 * address `where`.  If the instruction writes but the mapping is read-only, the access fails with
 * -EACCES, and changes to registers are undone.
 */
static int access_at(phys_addr_t where, unsigned long address, struct pt_regs *regs,
		     bool read_only)
{
	struct access_bus at = bus_of(regs, address);
	struct pt_regs before = *regs;
	int ret;

	at.read_only = read_only;
	rcu_read_lock();
	at.card = card_at(where, &at.bar, &at.offset);
	ret = carry_out(&at, regs);
	rcu_read_unlock();
	if (at.refused) {
		*regs = before;
		return -EACCES;
	}
	return ret == -EFAULT && at.user ? bring_in(&at) : ret;
}

/* --- faults of the kernel ----------------------------------------------------------- */

static bool without_access(pte_t entry)
{
	return !(pte_flags(entry) & _PAGE_PRESENT) && pte_flags(entry) & _PAGE_PROTNONE;
}

/*
 * Returns the physical address to which a kernel address is mapped without access permission.
 * Returns 0 if the kernel address is not mapped like this.
 */
static phys_addr_t registers_of_kernel(unsigned long address)
{
	unsigned int level;
	pte_t *entry;

	if (!is_vmalloc_addr((void *)address))
		return 0;
	entry = lookup_address(address, &level);
	if (!entry || level != PG_LEVEL_4K || !without_access(*entry))
		return 0;
	return PFN_PHYS(pte_pfn(*entry)) | offset_in_page(address);
}

static pte_t *(*lookup_in_table)(pgd_t *pgd, unsigned long address,
				 unsigned int *level);

/* Returns whether the process's own mapping allows the access. */
static bool process_may(unsigned long address, unsigned long error)
{
	unsigned long right = error & X86_PF_WRITE ? VM_WRITE : VM_READ;
	struct vm_area_struct *area;
	bool may;

	if (!mmap_read_trylock(current->mm))
		return false;
	area = vma_lookup(current->mm, address);
	may = area && area->vm_flags & VM_PFNMAP && area->vm_flags & right;
	mmap_read_unlock(current->mm);
	return may;
}

/*
 * Like registers_of_kernel, but for the address of a process, when it is accessed by a copy with
 * page faults disabled.  If the fault were not handled, the copy would fail.  Its caller would make
 * the page present, which it is already, and retry the copy without end.  Interrupts are off, so
 * that the page table is not freed.  The page table's lock is not taken, because the copying code
 * may hold it already.
 */
static phys_addr_t registers_of_copy(unsigned long address, unsigned long error)
{
	phys_addr_t where = 0;
	unsigned long flags;
	unsigned int level;
	pte_t *at, entry;

	if (!in_task() || !current->mm || !faulthandler_disabled() ||
	    !process_may(address, error))
		return 0;
	local_irq_save(flags);
	at = lookup_in_table(pgd_offset(current->mm, address), address, &level);
	if (at && level == PG_LEVEL_4K) {
		entry = READ_ONCE(*at);
		if (without_access(entry))
			where = PFN_PHYS(pte_pfn(entry)) | offset_in_page(address);
	}
	local_irq_restore(flags);
	return where;
}

static phys_addr_t registers_of_fault(unsigned long address, unsigned long error)
{
	phys_addr_t where = address < TASK_SIZE_MAX ? registers_of_copy(address, error)
						    : registers_of_kernel(address);

	return on_bus(where) ? where : 0;
}

static bool is_our_kernel_fault(struct iprobe *probe, struct pt_regs *call)
{
	unsigned long error = call->dx, address = call->cx;

	if (call->si != X86_TRAP_PF)
		return false;
	if (error & (X86_PF_PROT | X86_PF_USER | X86_PF_INSTR | X86_PF_RSVD))
		return false;
	return registers_of_fault(address, error);
}

static void tell_card(phys_addr_t where, bool spins)
{
	struct vpcib_card *card;
	u32 bar, offset;

	rcu_read_lock();
	card = card_at(where, &bar, &offset);
	/* The kernel accesses the MSI-X table while it holds the interrupt's lock. */
	if (card && card->kind->accessed && !card->gone &&
	    !msix_holds(card, bar, offset, 1))
		card->kind->accessed(card, spins);
	rcu_read_unlock();
}

/*
 * Lets other threads run, if one waits for the processor and the accessing code may be preempted.
 * If it may not be preempted, the card may do its work here.  A driver that polls a register without
 * sleeping would otherwise wait for ever for a card whose thread needs this processor.
 */
static void give_way(const struct pt_regs *regs, phys_addr_t where)
{
	bool spins = !(regs->flags & X86_EFLAGS_IF) || preempt_count();

	tell_card(where, spins);
	if (spins || !need_resched())
		return;
	local_irq_enable();
	cond_resched();
	local_irq_disable();
}

/* Replaces fixup_exception, and like fixup_exception returns whether the kernel can continue. */
static int our_kernel_fault(struct pt_regs *regs, int number, unsigned long error,
			    unsigned long address)
{
	int (*original)(struct pt_regs * regs, int number, unsigned long error,
			unsigned long address) = kernel_probe.original;
	phys_addr_t where = registers_of_fault(address, error);
	int ret = 1;

	if (!where || access_at(where, address, regs, false))
		ret = original(regs, number, error, address);
	else
		give_way(regs, where);
	iprobe_done(&kernel_probe);
	return ret;
}

/* --- faults of processes ------------------------------------------------------------ */

static phys_addr_t registers_of_user(struct vm_area_struct *vma, unsigned long address)
{
	phys_addr_t where;
	pte_t entry;

	if (read_entry(vma, address, &entry) || !without_access(entry))
		return 0;
	where = PFN_PHYS(pte_pfn(entry)) | offset_in_page(address);
	return on_bus(where) ? where : 0;
}

static bool may_be_registers(struct iprobe *probe, struct pt_regs *call)
{
	struct vm_area_struct *vma = (void *)call->di;

	return vma->vm_flags & VM_PFNMAP;
}

/*
 * Handles a fault of a process.  If `regs` is NULL, there is no access: the caller only wants the
 * page to be present.
 */
static vm_fault_t access_of_user(phys_addr_t where, unsigned long address,
				 unsigned int flags, struct pt_regs *regs,
				 bool read_only)
{
	int ret = -EFAULT;

	if (flags & FAULT_FLAG_INSTRUCTION)
		return VM_FAULT_SIGSEGV;
	if (regs)
		ret = access_at(where, address, regs, read_only);
	return ret == -EACCES ? VM_FAULT_SIGSEGV : ret ? VM_FAULT_SIGBUS : 0;
}

static vm_fault_t our_mm_fault(struct vm_area_struct *vma, unsigned long address,
			       unsigned int flags, struct pt_regs *regs)
{
	vm_fault_t (*original)(struct vm_area_struct * vma, unsigned long address,
			       unsigned int flags, struct pt_regs *regs) =
		user_probe.original;
	phys_addr_t where = registers_of_user(vma, address);
	vm_fault_t ret;

	if (!where)
		ret = original(vma, address, flags, regs);
	else if (comes_again(vma, flags))
		ret = VM_FAULT_RETRY;
	else
		ret = access_of_user(where, address, flags, regs,
				     !(vma->vm_flags & VM_WRITE));
	iprobe_done(&user_probe);
	return ret;
}

int traps_init(void)
{
	int ret = bus_init();

	if (ret)
		return ret;
	lookup_in_table = (void *)symbol_address("lookup_address_in_pgd");
	if (!lookup_in_table) {
		pr_err("no lookup_address_in_pgd in this kernel\n");
		return -ENOENT;
	}
	kernel_probe = (struct iprobe){ .address = symbol_address("fixup_exception"),
					.replacement = our_kernel_fault,
					.decide = is_our_kernel_fault };
	user_probe = (struct iprobe){ .symbol = "handle_mm_fault",
				      .replacement = our_mm_fault,
				      .decide = may_be_registers };
	ret = iprobe_register(&kernel_probe);
	if (ret) {
		pr_err("can't intercept fixup_exception\n");
		return ret;
	}
	ret = iprobe_register(&user_probe);
	if (ret) {
		pr_err("can't intercept handle_mm_fault\n");
		iprobe_unregister(&kernel_probe);
	}
	return ret;
}

void traps_exit(void)
{
	iprobe_unregister(&user_probe);
	iprobe_unregister(&kernel_probe);
}
