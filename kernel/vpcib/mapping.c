// SPDX-License-Identifier: GPL-2.0
/*
 * Intercepts the mappings that drivers make by ioremap, remap_pfn_range, vmf_insert_pfn and related
 * functions.
 *
 * There is no hardware at a card's bus addresses.  Registers are mapped to these addresses without
 * access permission, with the page-table entry that PROT_NONE makes.  So each access faults, and
 * the fault handler (trap.c) finds the bus address in the page-table entry.  These mappings can be
 * unmapped, and copied by fork and mremap, without any code here.  Memory BARs are mapped to pages,
 * with access permission.  Each page counts the processes' mappings, and a list holds the kernel's
 * mappings.  So a card's memory is not freed while it is mapped, even if the card is removed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/pfn_t.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "card.h"
#include "compat.h"
#include "../iprobe/iprobe.h"

static struct iprobe ioremap_probe;
static struct iprobe iounmap_probe;
static struct iprobe remap_probe;
static struct iprobe insert_probe;
static struct iprobe insert_large_probe;
static struct iprobe mprotect_probe;

typedef int (*map_fn)(unsigned long address, unsigned long end, phys_addr_t to,
		      pgprot_t prot);

/*
 * Maps pages like ioremap_page_range, but can also map part of an area.  In newer kernels,
 * ioremap_page_range maps only whole areas, so this is vmap_page_range there.
 */
static map_fn map_range;

/*
 * Points to the kernel's variant of remap_pfn_range that does not record the cache mode of the
 * memory, or NULL if the kernel has no such variant.  The cache mode is not needed: registers have
 * none, and memory that a driver has given to its card is cached as usual.  If the cache mode were
 * recorded, the kernel would warn (untrack_pfn) when the driver of a removed card calls
 * unmap_mapping_range while a process that maps the same memory exits.
 */
static int (*remap_untracked)(struct vm_area_struct *vma, unsigned long address,
			      unsigned long pfn, unsigned long bytes, pgprot_t prot);

struct kernel_mapping {
	struct list_head list;
	unsigned long address;
	phys_addr_t to;
	u32 number;
	bool reported;
	struct bar_memory *memory; /* NULL: registers */
};

static LIST_HEAD(kernel_mappings);
static DEFINE_SPINLOCK(kernel_mappings_lock);

static void memory_free(struct kref *users)
{
	struct bar_memory *memory = container_of(users, struct bar_memory, users);
	u32 i;

	for (i = 0; i < memory->count; i++)
		put_page(memory->pages[i]);
	kvfree(memory);
}

void memory_put(struct bar_memory *memory)
{
	if (memory)
		kref_put(&memory->users, memory_free);
}

struct bar_memory *memory_alloc(u64 bytes)
{
	u32 count = PAGE_ALIGN(bytes) >> PAGE_SHIFT;
	struct bar_memory *memory =
		kvzalloc(struct_size(memory, pages, count), GFP_KERNEL | __GFP_NOWARN);

	if (!memory)
		return NULL;
	kref_init(&memory->users);
	while (memory->count < count) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO |
					       __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

		if (!page) {
			memory_put(memory);
			return NULL;
		}
		memory->pages[memory->count++] = page;
	}
	return memory;
}

/*
 * Returns the memory BAR at a bus address, with a reference that the caller must drop.  Returns
 * NULL if there are registers or nothing at the address.
 */
static struct bar_memory *memory_at(phys_addr_t address, u32 *page)
{
	struct bar_memory *memory = NULL;
	struct vpcib_card *card;
	u32 bar, offset;

	rcu_read_lock();
	card = card_at(address, &bar, &offset);
	if (card)
		memory = card->memory[bar];
	if (memory && !kref_get_unless_zero(&memory->users))
		memory = NULL;
	rcu_read_unlock();
	*page = memory ? offset >> PAGE_SHIFT : 0;
	return memory;
}

static pgprot_t without_access(pgprot_t prot)
{
	pgprotval_t value =
		pgprot_val(prot) & ~(_PAGE_PRESENT | _PAGE_RW | _PAGE_GLOBAL);

	return __pgprot(value | _PAGE_PROTNONE);
}

/* --- the kernel's mappings -------------------------------------------------------- */

/* Maps one page at a time, so that the kernel uses no large pages. */
static int map_registers(unsigned long address, unsigned long end, phys_addr_t to,
			 pgprot_t prot)
{
	int ret = 0;

	for (; address < end && !ret; address += PAGE_SIZE, to += PAGE_SIZE)
		ret = map_range(address, address + PAGE_SIZE, to, without_access(prot));
	return ret;
}

static int map_pages(unsigned long address, unsigned long end,
		     struct bar_memory *memory, u32 page)
{
	int ret = 0;

	for (; address < end && !ret; address += PAGE_SIZE, page++)
		ret = page < memory->count
			      ? map_range(address, address + PAGE_SIZE,
					  page_to_phys(memory->pages[page]),
					  PAGE_KERNEL)
			      : -EINVAL;
	return ret;
}

static u32 number_at(phys_addr_t to)
{
	struct vpcib_card *card;
	u32 bar, offset, number;

	rcu_read_lock();
	card = card_at(to, &bar, &offset);
	number = card ? card->number : CARDS;
	rcu_read_unlock();
	return number;
}

/*
 * Maps a BAR for the kernel.  `memory` is NULL if the BAR has registers.  On success, the mapping
 * takes over the caller's reference to the memory.
 */
static int map_bar(unsigned long address, unsigned long end, phys_addr_t to,
		   pgprot_t prot, struct bar_memory *memory, u32 page)
{
	struct kernel_mapping *mapping = kmalloc(sizeof(*mapping), GFP_KERNEL);
	int ret = !mapping ? -ENOMEM
		  : memory ? map_pages(address, end, memory, page)
			   : map_registers(address, end, to, prot);

	if (ret) {
		kfree(mapping);
		return ret;
	}
	*mapping = (struct kernel_mapping){
		.address = address, .to = to, .number = number_at(to), .memory = memory
	};
	spin_lock(&kernel_mappings_lock);
	list_add(&mapping->list, &kernel_mappings);
	spin_unlock(&kernel_mappings_lock);
	return 0;
}

static void check_requested(phys_addr_t to)
{
	struct vpcib_card *card;
	u32 bar, offset;

	rcu_read_lock();
	card = card_at(to, &bar, &offset);
	if (card && card->pdev && !card->pdev->resource[bar].child)
		misuse_note(card->number,
			    (struct vpcib_access){ .value = VPCIB_REQUESTS_NOT,
						   .context = VPCIB_KERNEL,
						   .bar = bar },
			    "BAR %u is mapped without pci_request_region", bar);
	rcu_read_unlock();
}

static int our_ioremap_page_range(unsigned long address, unsigned long end,
				  phys_addr_t to, pgprot_t prot)
{
	struct bar_memory *memory;
	u32 page;
	int ret;

	check_requested(to);
	memory = memory_at(to, &page);
	ret = map_bar(address, end, to, prot, memory, page);
	if (ret)
		memory_put(memory);
	iprobe_done(&ioremap_probe);
	return ret;
}

static bool is_our_ioremap(struct iprobe *probe, struct pt_regs *regs)
{
	return on_bus(regs->dx);
}

static struct kernel_mapping *mapping_at(unsigned long address)
{
	struct kernel_mapping *mapping;

	list_for_each_entry (mapping, &kernel_mappings, list) {
		if (mapping->address == address)
			return mapping;
	}
	return NULL;
}

static void our_iounmap(volatile void __iomem *address)
{
	void (*original)(volatile void __iomem *address) = iounmap_probe.original;
	struct kernel_mapping *mapping;

	spin_lock(&kernel_mappings_lock);
	mapping = mapping_at((unsigned long)address & PAGE_MASK);
	if (mapping)
		list_del(&mapping->list);
	spin_unlock(&kernel_mappings_lock);
	original(address);
	if (mapping)
		memory_put(mapping->memory);
	kfree(mapping);
	iprobe_done(&iounmap_probe);
}

/* Returns whether a driver is bound to the card with this number. */
static bool has_driver(u32 number)
{
	struct vpcib_card *card;
	bool has;

	rcu_read_lock();
	card = card_in(number);
	has = card && card->pdev && card->pdev->dev.driver;
	rcu_read_unlock();
	return has;
}

/* Reports mappings of cards whose driver is gone. */
void mapping_check(void)
{
	struct kernel_mapping *mapping;

	spin_lock(&kernel_mappings_lock);
	list_for_each_entry (mapping, &kernel_mappings, list) {
		if (mapping->number == CARDS || mapping->reported ||
		    has_driver(mapping->number))
			continue;
		mapping->reported = true;
		misuse_note(mapping->number,
			    (struct vpcib_access){ .value = VPCIB_KEEPS_MAPPING,
						   .context = VPCIB_KERNEL },
			    "%s of a BAR are still mapped at %#lx (iounmap)",
			    mapping->memory ? "pages" : "registers", mapping->address);
	}
	spin_unlock(&kernel_mappings_lock);
}

/* --- mappings of processes -------------------------------------------------------- */

/*
 * Maps memory for a process.  The pages are reference-counted, as if the driver had inserted them
 * one by one.
 */
static int remap_memory(struct vm_area_struct *vma, unsigned long address,
			struct bar_memory *memory, u32 page, unsigned long bytes)
{
	unsigned long count = bytes >> PAGE_SHIFT;

	if (page + count > memory->count || vma->vm_flags & VM_PFNMAP)
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	return vm_insert_pages(vma, address, memory->pages + page, &count);
}

static int our_remap_pfn_range(struct vm_area_struct *vma, unsigned long address,
			       unsigned long pfn, unsigned long bytes, pgprot_t prot)
{
	int (*original)(struct vm_area_struct * vma, unsigned long address,
			unsigned long pfn, unsigned long bytes, pgprot_t prot) =
		remap_probe.original;
	struct bar_memory *memory;
	u32 page;
	int ret;

	memory = memory_at(PFN_PHYS(pfn), &page);
	if (memory)
		ret = remap_memory(vma, address, memory, page, PAGE_ALIGN(bytes));
	else
		ret = (remap_untracked ?: original)(
			vma, address, pfn, bytes,
			on_bus(PFN_PHYS(pfn)) ? without_access(prot) : prot);
	if (!ret && !memory)
		outlived_note(vma, address, pfn, bytes);
	memory_put(memory);
	iprobe_done(&remap_probe);
	return ret;
}

static bool is_our_remap(struct iprobe *probe, struct pt_regs *regs)
{
	struct dma_place at;

	bounds_check_mapping((void *)regs->di, regs->dx, regs->cx);
	return on_bus(PFN_PHYS(regs->dx)) || dma_find(PFN_PHYS(regs->dx), &at);
}

/*
 * Inserts a page of registers, when a process has touched its mapping.  Pages of a memory BAR are
 * not inserted so: the process would keep them when the card is gone.
 */
static vm_fault_t our_insert_pfn(struct vm_area_struct *vma, unsigned long address,
				 unsigned long pfn)
{
	struct bar_memory *memory;
	vm_fault_t ret;
	u32 page;

	memory = memory_at(PFN_PHYS(pfn), &page);
	ret = memory ? VM_FAULT_SIGBUS
		     : vmf_insert_pfn_prot(vma, address, pfn,
					   without_access(vma->vm_page_prot));
	memory_put(memory);
	iprobe_done(&insert_probe);
	return ret;
}

static bool is_our_insert(struct iprobe *probe, struct pt_regs *regs)
{
	return on_bus(PFN_PHYS(regs->dx));
}

/* A large page of registers is inserted page by page. */
static vm_fault_t our_insert_large(void)
{
	iprobe_done(&insert_large_probe);
	return VM_FAULT_FALLBACK;
}

static bool is_our_large_insert(struct iprobe *probe, struct pt_regs *regs)
{
	return on_bus(PFN_PHYS(regs->si & ~PFN_FLAGS_MASK));
}

/*
 * Refuses mprotect on registers.  If mprotect restored the access permission, accesses would bypass
 * the card.
 */
static int our_mprotect_fixup(void)
{
	iprobe_done(&mprotect_probe);
	return -EACCES;
}

static bool maps_registers(struct vm_area_struct *vma)
{
	pte_t entry;

	return vma->vm_flags & VM_PFNMAP && !read_entry(vma, vma->vm_start, &entry) &&
	       on_bus(PFN_PHYS(pte_pfn(entry)));
}

static bool is_our_mprotect(struct iprobe *probe, struct pt_regs *regs)
{
	return maps_registers(mprotect_area(regs));
}

static struct {
	struct iprobe *probe;
	const char *symbol;
	void *replacement;
	bool (*decide)(struct iprobe *probe, struct pt_regs *regs);
	bool is_new; /* kernel 6.1 does not have it, or only as an inline function */
} hooks[] = {
	{ &ioremap_probe, "ioremap_page_range", our_ioremap_page_range,
	  is_our_ioremap },
	{ &iounmap_probe, "iounmap", our_iounmap, NULL },
	{ &remap_probe, "remap_pfn_range", our_remap_pfn_range, is_our_remap },
	{ &insert_probe, "vmf_insert_pfn", our_insert_pfn, is_our_insert },
	{ &insert_large_probe, "vmf_insert_pfn_pmd", our_insert_large,
	  is_our_large_insert, true },
	{ &mprotect_probe, "mprotect_fixup", our_mprotect_fixup, is_our_mprotect },
};

static void unregister(u32 count)
{
	while (count--) {
		if (iprobe_registered(hooks[count].probe))
			iprobe_unregister(hooks[count].probe);
	}
}

int mapping_init(void)
{
	u32 i;

	remap_untracked = (void *)symbol_address("remap_pfn_range_notrack");
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		struct iprobe *probe = hooks[i].probe;
		int ret;

		if (hooks[i].is_new && !symbol_address(hooks[i].symbol))
			continue;
		*probe = (struct iprobe){ .symbol = hooks[i].symbol,
					  .replacement = hooks[i].replacement,
					  .decide = hooks[i].decide };
		ret = iprobe_register(probe);
		if (ret) {
			pr_err("can't intercept %s\n", hooks[i].symbol);
			unregister(i);
			return ret;
		}
	}
	map_range = (map_fn)symbol_address("vmap_page_range") ?: ioremap_probe.original;
	return 0;
}

void mapping_exit(void)
{
	unregister(ARRAY_SIZE(hooks));
	outlived_exit();
	if (!list_empty(&kernel_mappings))
		pr_warn("a driver that is gone still maps a card\n");
}
