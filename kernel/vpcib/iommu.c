// SPDX-License-Identifier: GPL-2.0
/*
 * The bus's IOMMU, which puts each card into a group of its own.  So vfio-pci can give a card to a
 * process, which drives it by system calls and mappings (Documentation/driver-api/vfio.rst).
 *
 * While a card is attached to a domain, its addresses are the domain's: a page that the process has
 * mapped there is read and written, and all other accesses are refused.  Otherwise the card has
 * the memory that its driver has given to it (dma.c), and this file does nothing.
 *
 * A machine with an IOMMU of its own is untried: vfio-pci can't take a card there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "card.h"
#include "compat.h"

#define RIGHTS (IOMMU_READ | IOMMU_WRITE)
#define ADDRESS_BITS 48

/**
 * struct space - the bus addresses of the cards that are attached to a domain
 * @domain: the kernel's view
 * @pages: for each page of addresses, the number of the page of memory times 4, plus the rights
 * @copying: held while a card copies, so that a page that was unmapped is no longer in use
 */
struct space {
	struct iommu_domain domain;
	struct xarray pages;
	raw_spinlock_t copying;
};

static struct iommu_device iommu;

static struct space *space_of(struct iommu_domain *domain)
{
	return container_of(domain, struct space, domain);
}

/* --- the card's side ---------------------------------------------------------------- */

static unsigned long entry_at(const struct space *space, u64 address)
{
	return xa_to_value(
		xa_load((struct xarray *)&space->pages, address >> PAGE_SHIFT)
			?: xa_mk_value(0));
}

static size_t left_in_page(u64 address, size_t bytes)
{
	return min_t(size_t, bytes, PAGE_SIZE - offset_in_page(address));
}

/* Returns 0, -EFAULT if a page is not mapped, or -EACCES if it may not be used so. */
static int check(const struct space *space, u64 address, size_t bytes, int right)
{
	while (bytes) {
		unsigned long entry = entry_at(space, address);
		size_t now = left_in_page(address, bytes);

		if (!entry)
			return -EFAULT;
		if (!(entry & right))
			return -EACCES;
		address += now;
		bytes -= now;
	}
	return 0;
}

static void copy(const struct vpcib_card *card, u64 address, void *buffer, size_t bytes,
		 bool to_driver)
{
	bool is_first = true;

	while (bytes) {
		unsigned long entry = entry_at(card->space, address);
		size_t now = left_in_page(address, bytes);
		void *at = pfn_to_kaddr(entry >> 2) + offset_in_page(address);

		memcpy(to_driver ? at : buffer, to_driver ? buffer : at, now);
		if (is_first)
			fault_corrupts(card, to_driver ? at : buffer, now);
		is_first = false;
		address += now;
		buffer += now;
		bytes -= now;
	}
}

/*
 * Carries out a card's access to its domain, which it has.  Called under the lock of the card's DMA
 * list.  Returns 0, -EFAULT or -EACCES as check(), or -EIO; on error nothing is copied.
 */
int iommu_transfer(const struct vpcib_card *card, u64 address, void *buffer,
		   size_t bytes, bool to_driver)
{
	int ret;

	raw_spin_lock(&card->space->copying);
	ret = check(card->space, address, bytes, to_driver ? IOMMU_WRITE : IOMMU_READ);
	if (!ret && fault_happens(card, FAULT_DMA))
		ret = -EIO;
	if (!ret)
		copy(card, address, buffer, bytes, to_driver);
	raw_spin_unlock(&card->space->copying);
	return ret;
}

/* --- the kernel's side -------------------------------------------------------------- */

static struct iommu_domain *space_alloc(unsigned int type)
{
	struct space *space;

	if (type != IOMMU_DOMAIN_IDENTITY && type != IOMMU_DOMAIN_UNMANAGED)
		return NULL;
	space = kzalloc(sizeof(*space), GFP_KERNEL);
	if (!space)
		return NULL;
	xa_init(&space->pages);
	raw_spin_lock_init(&space->copying);
	space->domain.geometry = (struct iommu_domain_geometry){
		.aperture_end = DMA_BIT_MASK(ADDRESS_BITS),
		.force_aperture = true,
	};
	return &space->domain;
}

static void space_free(struct iommu_domain *domain)
{
	xa_destroy(&space_of(domain)->pages);
	kfree(space_of(domain));
}

/* With the domain "identity", the card has the memory that its driver gives to it. */
static int attach(struct iommu_domain *domain, struct device *dev)
{
	bool translates = domain->type == IOMMU_DOMAIN_UNMANAGED;
	struct vpcib_card *card;
	unsigned long flags;

	rcu_read_lock();
	card = card_of(dev);
	if (card) {
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		card->space = translates ? space_of(domain) : NULL;
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
	}
	rcu_read_unlock();
	return card ? 0 : -ENODEV;
}

static size_t unmap_pages(struct iommu_domain *domain, unsigned long address,
			  size_t page, size_t count,
			  struct iommu_iotlb_gather *gathered)
{
	struct space *space = space_of(domain);
	size_t i;

	for (i = 0; i < count; i++) {
		if (!xa_erase(&space->pages, (address >> PAGE_SHIFT) + i))
			break;
	}
	return i * PAGE_SIZE;
}

/* Pages that are not memory, such as another card's registers, stay out of reach. */
static int map_pages(struct iommu_domain *domain, unsigned long address,
		     phys_addr_t memory, size_t page, size_t count, int rights,
		     gfp_t gfp, size_t *mapped)
{
	struct space *space = space_of(domain);
	size_t i;

	for (i = 0; i < count; i++) {
		unsigned long number = PHYS_PFN(memory) + i;
		unsigned long entry =
			number << 2 | (page_is_ram(number) ? rights & RIGHTS : 0);
		void *old = xa_store(&space->pages, (address >> PAGE_SHIFT) + i,
				     xa_mk_value(entry), gfp);

		if (xa_is_err(old))
			return xa_err(old);
		*mapped += PAGE_SIZE;
	}
	return 0;
}

/* Waits until no card uses a page that was unmapped. */
static void wait_for_cards(struct iommu_domain *domain)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&space_of(domain)->copying, flags);
	raw_spin_unlock_irqrestore(&space_of(domain)->copying, flags);
}

static void sync_domain(struct iommu_domain *domain,
			struct iommu_iotlb_gather *gathered)
{
	wait_for_cards(domain);
}

static phys_addr_t memory_at(struct iommu_domain *domain, dma_addr_t address)
{
	unsigned long entry = entry_at(space_of(domain), address);

	return entry ? PFN_PHYS(entry >> 2) | offset_in_page(address) : 0;
}

/* A virtual card's accesses are the processor's, and its messages reach only its own vectors. */
static bool can(struct device *dev, enum iommu_cap what)
{
	return what == IOMMU_CAP_CACHE_COHERENCY || is_isolation(what);
}

static struct iommu_device *probe(struct device *dev)
{
	bool ours;

	rcu_read_lock();
	ours = card_of(dev);
	rcu_read_unlock();
	return ours ? &iommu : ERR_PTR(-ENODEV);
}

static void release(struct device *dev)
{
}

static int default_type(struct device *dev)
{
	return IOMMU_DOMAIN_IDENTITY;
}

static const struct iommu_domain_ops domain_operations = {
	.attach_dev = attach,
	.map_pages = map_pages,
	.unmap_pages = unmap_pages,
	.flush_iotlb_all = wait_for_cards,
	.iotlb_sync = sync_domain,
	.iova_to_phys = memory_at,
	.free = space_free,
};

static const struct iommu_ops operations = {
	.capable = can,
	.domain_alloc = space_alloc,
	.probe_device = probe,
	.release_device = release,
	.device_group = generic_device_group,
	.def_domain_type = default_type,
	.default_domain_ops = &domain_operations,
	.pgsize_bitmap = PAGE_SIZE,
	.owner = THIS_MODULE,
};

static bool is_registered;

int iommu_init(void)
{
	int ret = iommu_device_sysfs_add(&iommu, NULL, NULL, "vpcib");

	if (ret)
		return ret;
	is_registered = !iommu_device_register(&iommu, &operations, NULL);
	if (!is_registered) {
		pr_info("this machine has an IOMMU, so there is no vfio-pci for "
			"cards\n");
		iommu_device_sysfs_remove(&iommu);
	}
	return 0;
}

void iommu_exit(void)
{
	if (!is_registered)
		return;
	iommu_device_unregister(&iommu);
	iommu_device_sysfs_remove(&iommu);
	forget_iommu();
}
