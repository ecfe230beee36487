// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the card gaps (tests/gaps_card.py).  It sends bytes, with the interrupt masked in
 * between, and prints what has come back: "gaps: VALUE INTERRUPTS".
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "gaps_registers.h"

struct gaps {
	void __iomem *small;
	void __iomem *large;
	int interrupts;
};

static irqreturn_t handle(int irq, void *data)
{
	struct gaps *gaps = data;

	writel(GAPS_STATUS_RECEIVED_MASK, gaps->large + GAPS_STATUS);
	gaps->interrupts++;
	return IRQ_HANDLED;
}

static void send(struct gaps *gaps, u8 byte)
{
	writeb(byte, gaps->small + GAPS_TRANSMIT);
	msleep(100);
}

static void show(struct gaps *gaps)
{
	pr_info("gaps: %u %d\n", readb(gaps->small + GAPS_RECEIVE), gaps->interrupts);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gaps *gaps = devm_kzalloc(&pdev->dev, sizeof(*gaps), GFP_KERNEL);
	int ret = pcim_enable_device(pdev), irq;
	u32 i;

	if (!gaps || ret)
		return ret ?: -ENOMEM;
	ret = pcim_iomap_regions(pdev, BIT(GAPS_BAR_SMALL) | BIT(GAPS_BAR_LARGE),
				 "gaps");
	if (ret)
		return ret;
	gaps->small = pcim_iomap_table(pdev)[GAPS_BAR_SMALL];
	gaps->large = pcim_iomap_table(pdev)[GAPS_BAR_LARGE];
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, GAPS_MSIX_VECTORS, GAPS_MSIX_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	irq = pci_irq_vector(pdev, GAPS_VECTOR_RECEIVED);
	ret = devm_request_irq(&pdev->dev, irq, handle, 0, "gaps", gaps);
	if (ret)
		return ret;
	send(gaps, 41);
	show(gaps);
	disable_irq(irq);
	send(gaps, 99);
	show(gaps);
	enable_irq(irq);
	msleep(100);
	show(gaps);
	for (i = 0; i < GAPS_SLOT_COUNT; i++)
		writel(GAPS_SLOT_MODE_FAST << GAPS_SLOT_MODE_SHIFT | i,
		       gaps->large + GAPS_SLOT(i));
	pr_info("gaps: slots %#x %#x\n", readl(gaps->large + GAPS_SLOT_3),
		readl(gaps->large + GAPS_BETWEEN));
	pr_info("gaps: wide %#llx\n", readq(gaps->small + GAPS_WIDE));
	return 0;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(GAPS_VENDOR_ID, GAPS_DEVICE_ID) },
	{},
};

static struct pci_driver gaps_driver = {
	.name = "gaps",
	.id_table = ids,
	.probe = probe,
};
module_pci_driver(gaps_driver);
MODULE_DESCRIPTION("Sends bytes to the card gaps");
MODULE_LICENSE("GPL");
