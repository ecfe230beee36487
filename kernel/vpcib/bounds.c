// SPDX-License-Identifier: GPL-2.0
/*
 * Reports a driver that copies past the end of DMA memory, or maps what is not its card's into a
 * process.
 *
 * Copies: copy_from_user and copy_to_user whose memory begins in DMA memory that the driver has
 * allocated, and ends outside.  With the parameter "races" such a copy is refused, so that the
 * kernel's memory stays intact.  (The kernel itself refuses copies past the end of memory from
 * kmalloc.)
 *
 * Mappings: remap_pfn_range, which most functions that map memory call.  A range is wrong if it
 * begins in a BAR or in DMA memory and ends outside, has pages that are free, or is neither memory
 * nor a BAR.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/page-flags.h>

#include "breakpoint.h"
#include "card.h"

#define REPORTS_MOST 16 /* of each kind */

static atomic_t copies, mappings;

/* --- copies ------------------------------------------------------------------------- */

static bool is_too_long(const void *memory, size_t bytes, struct dma_place *at)
{
	return virt_addr_valid(memory) && dma_find(virt_to_phys((void *)memory), at) &&
	       at->allocated && bytes > at->left;
}

/* Returns 1 if the copy is refused: the function returns at once, and has copied nothing. */
static int check_copy(struct pt_regs *regs, const void *memory)
{
	unsigned long caller = *(unsigned long *)regs->sp;
	size_t bytes = regs->dx;
	struct dma_place at;

	if (!is_too_long(memory, bytes, &at))
		return 0;
	if (atomic_inc_return(&copies) <= REPORTS_MOST)
		misuse_note(at.number,
			    (struct vpcib_access){ .value = VPCIB_COPIES_PAST_END,
						   .ip = caller,
						   .context = VPCIB_KERNEL },
			    "%pS copies %zu bytes, where DMA memory has %zu",
			    (void *)caller, bytes, at.left);
	regs->ax = bytes;
	regs->ip = caller;
	regs->sp += sizeof(caller);
	return 1;
}

static int check_at_breakpoint(struct pt_regs *regs, const void *memory)
{
	int refused;

	breakpoint_locks();
	refused = check_copy(regs, memory);
	breakpoint_unlocks();
	return refused;
}

static int at_copy_from_user(struct kprobe *probe, struct pt_regs *regs)
{
	return check_at_breakpoint(regs, (void *)regs->di);
}

static int at_copy_to_user(struct kprobe *probe, struct pt_regs *regs)
{
	return check_at_breakpoint(regs, (void *)regs->si);
}

/* --- mappings ----------------------------------------------------------------------- */

static void report_mapping(u32 number, phys_addr_t begin, u64 bytes, const char *what,
			   u64 left)
{
	if (atomic_inc_return(&mappings) <= REPORTS_MOST)
		misuse_note(
			number,
			(struct vpcib_access){ .value = VPCIB_MAPS_PAST_END,
					       .context = VPCIB_KERNEL },
			"a process gets %llu bytes at %#llx mapped, where %s has %llu",
			bytes, (u64)begin, what, left);
}

/* Returns how many bytes of a BAR follow the address, or 0 if there is no BAR. */
static u64 left_of_bar(phys_addr_t begin, u32 *number)
{
	struct vpcib_card *card;
	u32 bar, offset;
	u64 left = 0;

	rcu_read_lock();
	card = card_at(begin, &bar, &offset);
	if (card) {
		left = PAGE_ALIGN(card->kind->bars[bar].bytes) - offset;
		*number = card->number;
	}
	rcu_read_unlock();
	return left;
}

static bool belongs_to_nobody(unsigned long pfn, unsigned long pages)
{
	unsigned long end = pfn + pages;

	for (; pfn < end; pfn++) {
		if (!pfn_valid(pfn) || PageBuddy(pfn_to_page(pfn)))
			return true;
	}
	return false;
}

/* Checks a call of remap_pfn_range.  Context: any. */
void bounds_check_mapping(const struct vm_area_struct *area, unsigned long pfn,
			  u64 bytes)
{
	const struct file *file = area->vm_file;
	phys_addr_t begin = PFN_PHYS(pfn);
	struct dma_place at;
	u32 number;
	u64 left = left_of_bar(begin, &number);

	bytes = PAGE_ALIGN(bytes);
	if (left) {
		if (bytes > left)
			report_mapping(number, begin, bytes, "the BAR", left);
	} else if (dma_find(begin, &at) && at.allocated) {
		left = PAGE_ALIGN(begin + at.left) - begin;
		if (bytes > left)
			report_mapping(at.number, begin, bytes, "DMA memory", left);
	} else if (file && driver_is(file->f_op->owner, &number) &&
		   belongs_to_nobody(pfn, bytes >> PAGE_SHIFT)) {
		report_mapping(number, begin, bytes, "the driver", 0);
	}
}

static struct kprobe probes[] = {
	{ .symbol_name = "_copy_from_user",
	  .pre_handler = at_copy_from_user,
	  .post_handler = stays_breakpoint },
	{ .symbol_name = "_copy_to_user",
	  .pre_handler = at_copy_to_user,
	  .post_handler = stays_breakpoint },
};
static u32 nr_probes; /* those that are registered */

int bounds_init(void)
{
	int ret = 0;

	while (interrupt_races() && !ret && nr_probes < ARRAY_SIZE(probes)) {
		ret = register_kprobe(&probes[nr_probes]);
		if (!ret)
			nr_probes++;
	}
	if (ret) {
		pr_err("can't intercept the functions that copy\n");
		bounds_exit();
	}
	return ret;
}

void bounds_exit(void)
{
	while (nr_probes)
		unregister_kprobe(&probes[--nr_probes]);
}
