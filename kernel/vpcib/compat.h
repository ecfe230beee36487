/* SPDX-License-Identifier: GPL-2.0 */
/* Hides the differences in mappings, page faults, DMA and IOMMUs between kernels 6.1 and 6.12. */
#ifndef UNDERSTUDY_VPCIB_COMPAT_H
#define UNDERSTUDY_VPCIB_COMPAT_H

#include <linux/device.h>
#include <linux/iommu.h>
#include <linux/irqdomain.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* An argument of kallsyms_on_each_symbol's callback that newer kernels have not. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define MODULE_ARGUMENT struct module *module,
#else
#define MODULE_ARGUMENT
#endif

/* Returns the module's code, and stores its size in bytes. */
static inline void *module_text(const struct module *module, size_t *bytes)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	*bytes = module->core_layout.text_size;
	return module->core_layout.base;
#else
	*bytes = module->mem[MOD_TEXT].size;
	return module->mem[MOD_TEXT].base;
#endif
}

/* Returns the vm_area_struct among the arguments of a call to mprotect_fixup. */
static inline struct vm_area_struct *mprotect_area(const struct pt_regs *regs)
{
	return (void *)(LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0) ? regs->si
								     : regs->dx);
}

/*
 * Reads the page-table entry at an address in an area with VM_PFNMAP.  Returns 0, or a negative
 * errno if there is no entry.
 */
static inline int read_entry(struct vm_area_struct *vma, unsigned long address,
			     pte_t *entry)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	spinlock_t *lock;
	pte_t *at;
	int ret = follow_pte(vma->vm_mm, address, &at, &lock);

	if (ret)
		return ret;
	*entry = *at;
	pte_unmap_unlock(at, lock);
#else
	struct follow_pfnmap_args at = { .vma = vma, .address = address };
	int ret = follow_pfnmap_start(&at);

	if (ret)
		return ret;
	*entry = pfn_pte(at.pfn, at.pgprot);
	follow_pfnmap_end(&at);
#endif
	return 0;
}

/*
 * Kernels from 6.4 on may handle a fault with only the faulting area locked.  Such a fault must be
 * repeated with all areas locked, as in older kernels, since the access may need memory of another
 * area.
 */
static inline bool comes_again(struct vm_area_struct *vma, unsigned int flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	if (flags & FAULT_FLAG_VMA_LOCK) {
		vma_end_read(vma);
		return true;
	}
#endif
	return false;
}

/*
 * The functions that sync memory.  From 6.10 on, dma_sync_single_for_cpu() and its relatives are
 * inline, and skip their work for devices that are coherent, as all are on x86.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define DMA_SYNC(function) "dma_sync_" #function
#else
#define DMA_SYNC(function) "__dma_sync_" #function
#endif

/* Lets each sync of the device's memory call a function. */
static inline void dma_never_skip_sync(struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0) && defined(CONFIG_DMA_NEED_SYNC)
	dev->dma_skip_sync = false;
#endif
}

/*
 * Interrupts of a card reach no other device.  Kernels before 6.3 ask the IOMMU whether this is so,
 * and newer ones the interrupts' domain.
 */
static inline bool is_isolation(enum iommu_cap what)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	return what == IOMMU_CAP_INTR_REMAP;
#else
	return false;
#endif
}

static inline void isolate_messages(struct irq_domain *domain)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	domain->flags |= IRQ_DOMAIN_FLAG_ISOLATED_MSI;
#endif
}

/* Kernels before 6.7 keep the functions of an IOMMU that was unregistered for its buses. */
static inline void forget_iommu(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	pci_bus_type.iommu_ops = NULL;
	platform_bus_type.iommu_ops = NULL;
#endif
}

#endif
