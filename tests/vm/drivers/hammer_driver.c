// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the copier that only writes registers: from kernel threads and from the
 * interrupt handler.
 *
 * Processes write registers through its mmap. dmesg shows how much each writer wrote.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "copier_registers.h"
#include "hammer_pattern.h"

#define HANDLER 9
#define WRITES_IN_HANDLER 10
#define THREADS 2

static unsigned int writes = 20000;
module_param(writes, uint, 0444);

static struct {
	struct pci_dev *pdev;
	void __iomem *registers;
	void *memory;
	dma_addr_t address;
	struct task_struct *threads[THREADS];
	unsigned int handled;
} hammering;

static irqreturn_t handle(int irq, void *data)
{
	u32 status = ioread32(hammering.registers + COPIER_STATUS);
	unsigned int i;

	if (!(status & COPIER_STATUS_DONE_MASK))
		return IRQ_NONE;
	iowrite32(COPIER_STATUS_DONE_MASK, hammering.registers + COPIER_STATUS);
	for (i = 0; i < WRITES_IN_HANDLER; i++)
		hammer((void __force *)hammering.registers, HANDLER,
		       hammering.handled * WRITES_IN_HANDLER + i);
	hammering.handled++;
	return IRQ_HANDLED;
}

/* The first thread also starts the card's work, so that the card interrupts. */
static int write_all(void *data)
{
	unsigned long writer = (unsigned long)data;
	unsigned int n;

	for (n = 0; n < writes; n++) {
		hammer((void __force *)hammering.registers, writer, n);
		if (!writer && n % 20 == 0)
			iowrite32(1, hammering.registers + COPIER_START);
		cond_resched();
	}
	pr_info("hammer: thread %lu is pid %d\n", writer, current->pid);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

static int map_registers(struct file *file, struct vm_area_struct *vma)
{
	unsigned long pfn = pci_resource_start(hammering.pdev, 0) >> PAGE_SHIFT;

	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, pfn, PAGE_SIZE,
				  vma->vm_page_prot);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.mmap = map_registers,
};

static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hammer",
	.fops = &operations,
};

static void prepare(void)
{
	void __iomem *registers = hammering.registers;

	iowrite32(COPIER_COMMAND_OPERATION_FILL, registers + COPIER_COMMAND);
	iowrite32(64, registers + COPIER_LENGTH);
	iowrite32(lower_32_bits(hammering.address), registers + COPIER_DESTINATION);
	iowrite32(upper_32_bits(hammering.address), registers + COPIER_DESTINATION + 4);
	iowrite32(COPIER_ENABLE_DONE_MASK, registers + COPIER_ENABLE);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned long i;
	int ret = pcim_enable_device(pdev);

	if (!ret)
		ret = pcim_iomap_regions(pdev, 1, "hammer");
	if (ret)
		return ret;
	pci_set_master(pdev);
	hammering.pdev = pdev;
	hammering.registers = pcim_iomap_table(pdev)[0];
	hammering.memory =
		dmam_alloc_coherent(&pdev->dev, 64, &hammering.address, GFP_KERNEL);
	if (!hammering.memory)
		return -ENOMEM;
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSI);
	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, 0), handle, 0, "hammer", &hammering);
	if (!ret)
		ret = misc_register(&node);
	if (ret)
		return ret;
	prepare();
	for (i = 0; i < THREADS; i++)
		hammering.threads[i] =
			kthread_run(write_all, (void *)i, "hammer%lu", i);
	return 0;
}

static void hammer_remove(struct pci_dev *pdev)
{
	int i;

	for (i = 0; i < THREADS; i++)
		kthread_stop(hammering.threads[i]);
	iowrite32(0, hammering.registers + COPIER_ENABLE);
	misc_deregister(&node);
	free_irq(pci_irq_vector(pdev, 0), &hammering);
	pci_free_irq_vectors(pdev);
	pr_info("hammer: the handler wrote %u\n",
		hammering.handled * WRITES_IN_HANDLER);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(COPIER_VENDOR_ID, COPIER_DEVICE_ID) },
	{},
};

static struct pci_driver hammer_pci_driver = {
	.name = "hammer",
	.id_table = ids,
	.probe = probe,
	.remove = hammer_remove,
};
module_pci_driver(hammer_pci_driver);
MODULE_DESCRIPTION("Writes registers of the copier from everywhere");
MODULE_LICENSE("GPL");
