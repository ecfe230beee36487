// SPDX-License-Identifier: GPL-2.0
/*
 * Reports a driver that frees DMA memory while a process still has it mapped (remap_pfn_range,
 * dma_mmap_coherent): the process then reads and writes memory of somebody else.
 *
 * Each mapping of DMA memory is written down.  When the memory is freed, the process's page table
 * says whether the mapping is still there.
 *
 * Active only with the parameter "races".
 */
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "card.h"
#include "compat.h"

#define MAPPINGS_MOST 256 /* when there are more, the oldest is forgotten */

struct process_mapping {
	struct list_head list;
	struct mm_struct *mm; /* with a reference to the structure, not to the memory */
	unsigned long address;
	unsigned long pfn;
	unsigned long pages;
	u32 pid;
};

static LIST_HEAD(mappings);
static u32 nr_mappings;
static DEFINE_SPINLOCK(mappings_lock);

static void forget(struct process_mapping *mapping)
{
	mmdrop(mapping->mm);
	kfree(mapping);
}

/* Moves mappings to a list: those of these pages, or those whose process is gone. */
static void take(unsigned long pfn, unsigned long pages, bool gone,
		 struct list_head *to)
{
	struct process_mapping *mapping, *next;

	spin_lock(&mappings_lock);
	list_for_each_entry_safe (mapping, next, &mappings, list) {
		bool is = gone ? !atomic_read(&mapping->mm->mm_users)
			       : mapping->pfn < pfn + pages &&
					  pfn < mapping->pfn + mapping->pages;

		if (is) {
			list_move(&mapping->list, to);
			nr_mappings--;
		}
	}
	spin_unlock(&mappings_lock);
}

static void forget_gone(void)
{
	struct process_mapping *mapping, *next;
	LIST_HEAD(gone);

	take(0, 0, true, &gone);
	list_for_each_entry_safe (mapping, next, &gone, list)
		forget(mapping);
}

/* Notes that the present process has DMA memory mapped.  Context: a process, may sleep. */
void outlived_note(const struct vm_area_struct *area, unsigned long address,
		   unsigned long pfn, unsigned long bytes)
{
	struct process_mapping *mapping, *oldest = NULL;
	struct dma_place at;

	if (!interrupt_races() || !dma_find(PFN_PHYS(pfn), &at) || !at.allocated)
		return;
	forget_gone();
	mapping = kmalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return;
	*mapping = (struct process_mapping){ .mm = area->vm_mm,
					     .address = address,
					     .pfn = pfn,
					     .pages = PAGE_ALIGN(bytes) >> PAGE_SHIFT,
					     .pid = current->tgid };
	mmgrab(mapping->mm);
	spin_lock(&mappings_lock);
	list_add(&mapping->list, &mappings);
	if (nr_mappings == MAPPINGS_MOST)
		oldest = list_last_entry(&mappings, struct process_mapping, list);
	else
		nr_mappings++;
	if (oldest)
		list_del(&oldest->list);
	spin_unlock(&mappings_lock);
	if (oldest)
		forget(oldest);
}

static bool is_there(const struct process_mapping *mapping)
{
	struct mm_struct *mm = mapping->mm;
	struct vm_area_struct *area;
	bool is = false;
	pte_t entry;

	if (!mmget_not_zero(mm))
		return false;
	if (mmap_read_trylock(mm)) {
		area = vma_lookup(mm, mapping->address);
		is = area && area->vm_flags & VM_PFNMAP &&
		     !read_entry(area, mapping->address, &entry) &&
		     pte_pfn(entry) == mapping->pfn;
		mmap_read_unlock(mm);
	}
	mmput(mm);
	return is;
}

/*
 * Called before DMA memory is freed.  Context: any; where sleeping is not allowed, nothing is
 * checked.
 */
void outlived_check(u32 number, phys_addr_t begin, size_t bytes)
{
	struct process_mapping *mapping, *next;
	bool reported = false;
	LIST_HEAD(found);

	if (!interrupt_races() || in_atomic() || irqs_disabled())
		return;
	take(PHYS_PFN(begin), PAGE_ALIGN(bytes) >> PAGE_SHIFT, false, &found);
	list_for_each_entry_safe (mapping, next, &found, list) {
		if (!reported && is_there(mapping)) {
			misuse_note(number,
				    (struct vpcib_access){ .value = VPCIB_FREES_MAPPED,
							   .context = VPCIB_KERNEL },
				    "process %u has it mapped at %#lx", mapping->pid,
				    mapping->address);
			reported = true;
		}
		forget(mapping);
	}
}

void outlived_exit(void)
{
	struct process_mapping *mapping, *next;

	list_for_each_entry_safe (mapping, next, &mappings, list)
		forget(mapping);
}
