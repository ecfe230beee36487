// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the card odd: processes map its registers from /dev/odd.
 *
 * When a process writes a number there, the kernel itself runs that many rounds of
 * odd_instructions.h.
 */
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <asm/fpu/api.h>

#include "odd_instructions.h"
#include "odd_registers.h"

static struct pci_dev *card;

static unsigned int run_round(odd_byte *page, unsigned int n)
{
	unsigned int bad;

	kernel_fpu_begin();
	__asm__ volatile("fninit");
	bad = odd_x87(page, n);
	if (n == 1)
		odd_save(page);
	kernel_fpu_end();
	local_irq_disable();
	bad += odd_exchange(page, n) + odd_general(page, n);
	local_irq_enable();
	return bad;
}

static ssize_t run_rounds(struct file *file, const char __user *from, size_t bytes,
			  loff_t *at)
{
	odd_byte *page = (void __force *)pcim_iomap_table(card)[0];
	unsigned int rounds, n, bad = 0;
	int ret = kstrtouint_from_user(from, bytes, 0, &rounds);

	if (ret)
		return ret;
	for (n = 1; n <= rounds; n++)
		bad += run_round(page, n);
	pr_info("odd: pid %d had %u bad\n", current->pid, bad);
	return bytes;
}

static int map_registers(struct file *file, struct vm_area_struct *vma)
{
	unsigned long pfn = pci_resource_start(card, 0) >> PAGE_SHIFT;

	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, pfn, PAGE_SIZE,
				  vma->vm_page_prot);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = run_rounds,
	.mmap = map_registers,
};

static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "odd",
	.fops = &operations,
};

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);

	if (!ret)
		ret = pcim_iomap_regions(pdev, 1, "odd");
	if (ret)
		return ret;
	card = pdev;
	return misc_register(&node);
}

static void odd_remove(struct pci_dev *pdev)
{
	misc_deregister(&node);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(ODD_VENDOR_ID, ODD_DEVICE_ID) },
	{},
};

static struct pci_driver odd_pci_driver = {
	.name = "odd",
	.id_table = ids,
	.probe = probe,
	.remove = odd_remove,
};
module_pci_driver(odd_pci_driver);
MODULE_DESCRIPTION("Instructions that the bus does not know, at a card's registers");
MODULE_LICENSE("GPL");
