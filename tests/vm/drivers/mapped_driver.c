// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the copier whose registers (offset 0) and DMA memory (offset of one page)
 * processes can map.
 *
 * Each write(2) removes all mappings, as drivers do when their card is unplugged.
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "copier_registers.h"

static struct pci_dev *card;
static void *memory;
static dma_addr_t address;

static int map_one(struct file *file, struct vm_area_struct *vma)
{
	unsigned long pfn = pci_resource_start(card, COPIER_BAR_CONTROL) >> PAGE_SHIFT;

	if (!vma->vm_pgoff)
		return io_remap_pfn_range(vma, vma->vm_start, pfn, PAGE_SIZE,
					  pgprot_noncached(vma->vm_page_prot));
	vma->vm_pgoff = 0;
	return dma_mmap_coherent(&card->dev, vma, memory, address, PAGE_SIZE);
}

static ssize_t unmap_all(struct file *file, const char __user *text, size_t count,
			 loff_t *at)
{
	unmap_mapping_range(file->f_mapping, 0, 0, 1);
	return count;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.mmap = map_one,
	.write = unmap_all,
};

static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mapped",
	.fops = &operations,
};

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	card = pdev;
	memory = dmam_alloc_coherent(&pdev->dev, PAGE_SIZE, &address, GFP_KERNEL);
	return memory ? misc_register(&node) : -ENOMEM;
}

static void mapped_remove(struct pci_dev *pdev)
{
	misc_deregister(&node);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(COPIER_VENDOR_ID, COPIER_DEVICE_ID) },
	{},
};

static struct pci_driver mapped = {
	.name = "mapped",
	.id_table = ids,
	.probe = probe,
	.remove = mapped_remove,
};
module_pci_driver(mapped);
MODULE_DESCRIPTION("Mappings of a copier that go away under their users");
MODULE_LICENSE("GPL");
