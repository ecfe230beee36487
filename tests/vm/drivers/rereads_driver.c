// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the copier whose card reads again, in one mapping, what it has itself written, and
 * writes to bytes of a transfer that it has still to read.  Neither is the driver's mistake.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "copier_registers.h"

#define PART 2048
#define ALL (4 * PART)

static bool copy(void __iomem *registers, dma_addr_t from, dma_addr_t to)
{
	u32 status, tries = 10000;

	iowrite32(COPIER_COMMAND_OPERATION_COPY, registers + COPIER_COMMAND);
	iowrite64(from, registers + COPIER_SOURCE);
	iowrite64(to, registers + COPIER_DESTINATION);
	iowrite32(PART, registers + COPIER_LENGTH);
	iowrite32(1, registers + COPIER_START);
	do {
		usleep_range(100, 200);
		status = ioread32(registers + COPIER_STATUS);
	} while (!(status & (COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK)) &&
		 --tries);
	iowrite32(status, registers + COPIER_STATUS);
	return status & COPIER_STATUS_DONE_MASK;
}

static bool works(struct device *dev, void __iomem *registers, u8 *memory)
{
	dma_addr_t at = dma_map_single(dev, memory, ALL, DMA_BIDIRECTIONAL);
	bool right;

	if (dma_mapping_error(dev, at))
		return false;
	right = copy(registers, at, at + PART) &&
		copy(registers, at + PART, at + 2 * PART) &&
		copy(registers, at + 2 * PART, at + 2 * PART + 64);
	dma_unmap_single(dev, at, ALL, DMA_BIDIRECTIONAL);
	return right && !memcmp(memory, memory + PART, PART);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);
	void __iomem *registers;
	u8 *memory;
	u32 i;

	if (ret)
		return ret;
	pci_set_master(pdev);
	registers = pcim_iomap(pdev, COPIER_BAR_CONTROL, 0);
	memory = kmalloc(ALL, GFP_KERNEL);
	if (!registers || !memory) {
		kfree(memory);
		return -ENOMEM;
	}
	for (i = 0; i < ALL; i++)
		memory[i] = i % 251;
	pr_info("rereads: %s\n",
		works(&pdev->dev, registers, memory) ? "right" : "wrong");
	kfree(memory);
	return 0;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(COPIER_VENDOR_ID, COPIER_DEVICE_ID) },
	{},
};

static struct pci_driver rereads = {
	.name = "rereads",
	.id_table = ids,
	.probe = probe,
};
module_pci_driver(rereads);
MODULE_DESCRIPTION("A copier that reads what it has written");
MODULE_LICENSE("GPL");
