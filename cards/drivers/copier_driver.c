// SPDX-License-Identifier: GPL-2.0
/*
 * The reference driver of the copier: /dev/copierN copies the data that are written to it, fills
 * memory, and computes checksums, one operation at a time.
 *
 *	write   the card copies the written data, up to BUFFER_BYTES
 *	read    returns the copy
 *	ioctl   COPIER_GET_CHECKSUM (of the last write), COPIER_DO_FILL (with a byte)
 */
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "copier_registers.h"

#define BUFFER_BYTES 65536
#define TIMEOUT_JIFFIES (10 * HZ)
#define COPIER_GET_CHECKSUM _IOR('c', 0, u32)
#define COPIER_DO_FILL _IOW('c', 1, u32)

struct copier {
	struct kref users; /* references: one by the card, one by each open file */
	struct pci_dev *pdev;
	void __iomem *registers;
	struct miscdevice node;
	char name[16];
	int number;

	struct mutex lock; /* one operation at a time */
	bool gone;
	size_t bytes; /* length of the last write */
	void *source, *destination;
	dma_addr_t source_address, destination_address;

	struct completion finished;
	u32 status; /* status bits of the operation, acknowledged by the interrupt handler */
};

static DEFINE_IDA(numbers);

static void copier_free(struct kref *users)
{
	kfree(container_of(users, struct copier, users));
}

static irqreturn_t handle(int irq, void *data)
{
	struct copier *copier = data;
	u32 status = ioread32(copier->registers + COPIER_STATUS) &
		     (COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK);

	if (!status ||
	    status == (~0u & (COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK)))
		return IRQ_NONE;
	iowrite32(status, copier->registers + COPIER_STATUS);
	WRITE_ONCE(copier->status, status);
	complete(&copier->finished);
	return IRQ_HANDLED;
}

/* Starts one operation of the card and waits until it ends.  Called under the lock. */
static int operate(struct copier *copier, enum copier_command_operation operation,
		   u32 bytes)
{
	void __iomem *registers = copier->registers;

	if (copier->gone)
		return -ENODEV;
	reinit_completion(&copier->finished);
	copier->status = 0;
	iowrite32(operation, registers + COPIER_COMMAND);
	iowrite64(copier->source_address, registers + COPIER_SOURCE);
	iowrite64(copier->destination_address, registers + COPIER_DESTINATION);
	iowrite32(bytes, registers + COPIER_LENGTH);
	iowrite32(1, registers + COPIER_START);
	if (!wait_for_completion_timeout(&copier->finished, TIMEOUT_JIFFIES))
		return -ETIMEDOUT;
	if (copier->gone)
		return -ENODEV;
	return copier->status & COPIER_STATUS_FAILED_MASK ? -EIO : 0;
}

static struct copier *copier_of(struct file *file)
{
	return container_of(file->private_data, struct copier, node);
}

static int copier_open(struct inode *inode, struct file *file)
{
	kref_get(&copier_of(file)->users);
	return 0;
}

static int copier_release(struct inode *inode, struct file *file)
{
	kref_put(&copier_of(file)->users, copier_free);
	return 0;
}

static ssize_t copier_write(struct file *file, const char __user *from, size_t bytes,
			    loff_t *at)
{
	struct copier *copier = copier_of(file);
	int ret = -ENODEV;

	if (!bytes || bytes > BUFFER_BYTES)
		return -EINVAL;
	mutex_lock(&copier->lock);
	if (!copier->gone)
		ret = copy_from_user(copier->source, from, bytes) ? -EFAULT : 0;
	if (!ret)
		ret = operate(copier, COPIER_COMMAND_OPERATION_COPY, bytes);
	if (!ret)
		copier->bytes = bytes;
	mutex_unlock(&copier->lock);
	return ret ?: bytes;
}

static ssize_t copier_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct copier *copier = copier_of(file);
	ssize_t ret = -ENODEV;

	mutex_lock(&copier->lock);
	if (!copier->gone)
		ret = simple_read_from_buffer(to, bytes, at, copier->destination,
					      copier->bytes);
	mutex_unlock(&copier->lock);
	return ret;
}

static int do_checksum(struct copier *copier, u32 __user *to)
{
	int ret = operate(copier, COPIER_COMMAND_OPERATION_CHECKSUM, copier->bytes);

	return ret ?: put_user(ioread32(copier->registers + COPIER_CHECKSUM), to);
}

static int do_fill(struct copier *copier, u32 byte)
{
	if (copier->gone)
		return -ENODEV;
	iowrite32(byte & COPIER_PATTERN_BYTE_MASK, copier->registers + COPIER_PATTERN);
	return operate(copier, COPIER_COMMAND_OPERATION_FILL, copier->bytes);
}

static long copier_ioctl(struct file *file, unsigned int request,
			 unsigned long argument)
{
	struct copier *copier = copier_of(file);
	u32 __user *user = (u32 __user *)argument;
	long ret = -ENOTTY;
	u32 byte;

	mutex_lock(&copier->lock);
	if (request == COPIER_GET_CHECKSUM)
		ret = do_checksum(copier, user);
	else if (request == COPIER_DO_FILL)
		ret = get_user(byte, user) ? -EFAULT : do_fill(copier, byte);
	mutex_unlock(&copier->lock);
	return ret;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = copier_open,
	.release = copier_release,
	.read = copier_read,
	.write = copier_write,
	.unlocked_ioctl = copier_ioctl,
};

/* --- the card comes and goes -------------------------------------------------------- */

static int give_memory(struct copier *copier)
{
	struct device *dev = &copier->pdev->dev;

	copier->source = dmam_alloc_coherent(dev, BUFFER_BYTES, &copier->source_address,
					     GFP_KERNEL);
	copier->destination = dmam_alloc_coherent(
		dev, BUFFER_BYTES, &copier->destination_address, GFP_KERNEL);
	return copier->source && copier->destination ? 0 : -ENOMEM;
}

static int start_interrupts(struct copier *copier)
{
	struct pci_dev *pdev = copier->pdev;
	int ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_ALL_TYPES);

	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, 0), handle, IRQF_SHARED, copier->name,
			  copier);
	if (ret) {
		pci_free_irq_vectors(pdev);
		return ret;
	}
	iowrite32(COPIER_ENABLE_DONE_MASK | COPIER_ENABLE_FAILED_MASK,
		  copier->registers + COPIER_ENABLE);
	return 0;
}

static void stop_interrupts(struct copier *copier)
{
	iowrite32(0, copier->registers + COPIER_ENABLE);
	free_irq(pci_irq_vector(copier->pdev, 0), copier);
	pci_free_irq_vectors(copier->pdev);
}

static int copier_start(struct copier *copier)
{
	struct pci_dev *pdev = copier->pdev;
	int ret = pcim_enable_device(pdev);

	if (!ret)
		ret = pcim_iomap_regions(pdev, 1 << COPIER_BAR_CONTROL, "copier");
	if (ret)
		return ret;
	copier->registers = pcim_iomap_table(pdev)[COPIER_BAR_CONTROL];
	if (ioread32(copier->registers + COPIER_ID) != COPIER_ID_RESET_VALUE)
		return -ENODEV;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	pci_set_master(pdev);
	return give_memory(copier);
}

static int copier_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct copier *copier = kzalloc(sizeof(*copier), GFP_KERNEL);
	int ret;

	if (!copier)
		return -ENOMEM;
	kref_init(&copier->users);
	mutex_init(&copier->lock);
	init_completion(&copier->finished);
	copier->pdev = pdev;
	pci_set_drvdata(pdev, copier);
	ret = copier->number = ida_alloc(&numbers, GFP_KERNEL);
	if (ret < 0)
		goto put;
	snprintf(copier->name, sizeof(copier->name), "copier%d", copier->number);
	copier->node = (struct miscdevice){ .minor = MISC_DYNAMIC_MINOR,
					    .name = copier->name,
					    .fops = &operations,
					    .parent = &pdev->dev };
	ret = copier_start(copier);
	if (!ret)
		ret = start_interrupts(copier);
	if (ret)
		goto free_number;
	ret = misc_register(&copier->node);
	if (ret)
		goto stop;
	return 0;

stop:
	stop_interrupts(copier);
free_number:
	ida_free(&numbers, copier->number);
put:
	kref_put(&copier->users, copier_free);
	return ret;
}

static void copier_remove(struct pci_dev *pdev)
{
	struct copier *copier = pci_get_drvdata(pdev);

	misc_deregister(&copier->node);
	WRITE_ONCE(copier->gone, true);
	/* wakes a caller that waits for an operation: the removed card will not finish it */
	complete(&copier->finished);
	mutex_lock(&copier->lock);
	stop_interrupts(copier);
	mutex_unlock(&copier->lock);
	ida_free(&numbers, copier->number);
	kref_put(&copier->users, copier_free);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(COPIER_VENDOR_ID, COPIER_DEVICE_ID) },
	{},
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver copier_driver = {
	.name = "copier",
	.id_table = ids,
	.probe = copier_probe,
	.remove = copier_remove,
};
module_pci_driver(copier_driver);
MODULE_DESCRIPTION("Reference driver of the copier");
MODULE_LICENSE("GPL");
