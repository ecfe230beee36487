// SPDX-License-Identifier: GPL-2.0
/*
 * The reference driver of Zach 1: it provides /dev/zach1_N, which one program at a time can open
 * (zach1_driver.h).
 *
 * The command buffers form a ring.  The program fills the buffer number "filled", and the card
 * draws the buffer number "drawn".  The buffers from "drawn" + 1 to "filled" - 1 wait for the
 * card.  Both numbers count from 0, and only a reset sets them back to 0.  The lock "lock" guards
 * both numbers and the registers that start a buffer, and the interrupt handler takes the lock
 * too.  Without the lock, a buffer could stay unstarted: the program sees a busy card and leaves
 * the start to the interrupt handler, but the card completes its last buffer before the new one
 * is added (Jones 2010 section 3.3: no student's driver handled this).
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "zach1_driver.h"
#include "zach1_registers.h"

#define ALL_BYTES (ZACH1_BUFFERS * ZACH1_BUFFER_BYTES)
#define HANDLED (ZACH1_STATUS_DMA_DONE_MASK | ZACH1_STATUS_FAILED_MASK)

struct zach1 {
	struct kref users; /* references: one by the card, one by the open file */
	struct pci_dev *pdev;
	void __iomem *registers;
	struct miscdevice node;
	char name[16];
	int number;

	struct mutex control; /* held by each file operation, and by the removal */
	struct file *file; /* the open file of the card; NULL if there is none */

	void *buffers;
	dma_addr_t address;

	spinlock_t lock;
	u32 filled, drawn; /* numbers of buffers, see above */
	u32 bytes[ZACH1_BUFFERS];
	bool gone, failed;
	wait_queue_head_t progress;
};

static DEFINE_IDA(numbers);

static void zach1_free(struct kref *users)
{
	kfree(container_of(users, struct zach1, users));
}

/* --- the card ------------------------------------------------------------------------ */

/* Starts the next buffer.  Called under the lock. */
static void start_next(struct zach1 *zach1)
{
	u32 number = zach1->drawn % ZACH1_BUFFERS;

	iowrite64(zach1->address + number * ZACH1_BUFFER_BYTES,
		  zach1->registers + ZACH1_DMA_ADDRESS);
	iowrite32(zach1->bytes[number], zach1->registers + ZACH1_DMA_LENGTH);
	iowrite32(1, zach1->registers + ZACH1_DMA_START);
}

static irqreturn_t handle(int irq, void *data)
{
	struct zach1 *zach1 = data;
	u32 status;

	spin_lock(&zach1->lock);
	status = ioread32(zach1->registers + ZACH1_STATUS);
	if (zach1->gone || status == ~0u || !(status & HANDLED)) {
		spin_unlock(&zach1->lock);
		return IRQ_NONE;
	}
	iowrite32(status & HANDLED, zach1->registers + ZACH1_STATUS);
	if (status & ZACH1_STATUS_FAILED_MASK)
		zach1->failed = true;
	if (status & ZACH1_STATUS_DMA_DONE_MASK && zach1->drawn != zach1->filled)
		zach1->drawn++;
	if (!zach1->failed && zach1->drawn != zach1->filled)
		start_next(zach1);
	spin_unlock(&zach1->lock);
	wake_up_all(&zach1->progress);
	return IRQ_HANDLED;
}

static void enable_interrupts(struct zach1 *zach1)
{
	iowrite32(ZACH1_ENABLE_DMA_DONE_MASK | ZACH1_ENABLE_FAILED_MASK,
		  zach1->registers + ZACH1_ENABLE);
}

static void reset_card(struct zach1 *zach1)
{
	spin_lock_irq(&zach1->lock);
	iowrite32(ZACH1_CONTROL_RESET_MASK, zach1->registers + ZACH1_CONTROL);
	zach1->filled = 0;
	zach1->drawn = 0;
	zach1->failed = false;
	enable_interrupts(zach1);
	spin_unlock_irq(&zach1->lock);
	wake_up_all(&zach1->progress);
}

/* --- the program --------------------------------------------------------------------- */

static bool is_over(const struct zach1 *zach1)
{
	return READ_ONCE(zach1->gone) || READ_ONCE(zach1->failed);
}

static u32 waiting(const struct zach1 *zach1)
{
	return READ_ONCE(zach1->filled) - READ_ONCE(zach1->drawn);
}

static int state_of(const struct zach1 *zach1)
{
	return zach1->gone ? -ENODEV : zach1->failed ? -EIO : 0;
}

static int wait_until_fewer(struct zach1 *zach1, u32 buffers)
{
	int ret = wait_event_interruptible(zach1->progress,
					   waiting(zach1) < buffers || is_over(zach1));

	return ret ?: state_of(zach1);
}

static int submit(struct zach1 *zach1, u32 bytes, u32 *next)
{
	int ret;

	if (!bytes || bytes > ZACH1_BUFFER_BYTES)
		return -EINVAL;
	ret = wait_until_fewer(zach1, ZACH1_BUFFERS);
	if (ret)
		return ret;
	spin_lock_irq(&zach1->lock);
	ret = state_of(zach1);
	if (!ret) {
		zach1->bytes[zach1->filled++ % ZACH1_BUFFERS] = bytes;
		if (waiting(zach1) == 1)
			start_next(zach1);
	}
	*next = zach1->filled % ZACH1_BUFFERS;
	spin_unlock_irq(&zach1->lock);
	return ret ?: wait_until_fewer(zach1, ZACH1_BUFFERS);
}

static int show(struct zach1 *zach1, u32 graphics)
{
	int ret;

	if (graphics > 1)
		return -EINVAL;
	spin_lock_irq(&zach1->lock);
	ret = zach1->gone ? -ENODEV : 0;
	if (!ret)
		iowrite32(graphics, zach1->registers + ZACH1_CONTROL);
	spin_unlock_irq(&zach1->lock);
	return ret;
}

static struct zach1 *zach1_of(struct file *file)
{
	return container_of(file->private_data, struct zach1, node);
}

static long zach1_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct zach1 *zach1 = zach1_of(file);
	u32 __user *user = (u32 __user *)argument;
	u32 value, next;
	int ret = 0;

	if (request == ZACH1_SYNC)
		return wait_until_fewer(zach1, 1);
	if (request == ZACH1_RESET) {
		mutex_lock(&zach1->control);
		if (zach1->gone)
			ret = -ENODEV;
		else
			reset_card(zach1);
		mutex_unlock(&zach1->control);
		return ret;
	}
	if (request != ZACH1_SUBMIT && request != ZACH1_GRAPHICS)
		return -ENOTTY;
	if (get_user(value, user))
		return -EFAULT;
	if (request == ZACH1_GRAPHICS)
		return show(zach1, value);
	ret = submit(zach1, value, &next);
	return ret ?: put_user(next, user);
}

static int map_framebuffer(struct zach1 *zach1, struct vm_area_struct *vma)
{
	resource_size_t at = pci_resource_start(zach1->pdev, ZACH1_BAR_FRAMEBUFFER);
	unsigned long bytes = vma->vm_end - vma->vm_start;

	if (bytes > pci_resource_len(zach1->pdev, ZACH1_BAR_FRAMEBUFFER))
		return -EINVAL;
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, at >> PAGE_SHIFT, bytes,
				  vma->vm_page_prot);
}

static int map_buffers(struct zach1 *zach1, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start > ALL_BYTES)
		return -EINVAL;
	vma->vm_pgoff = 0;
	return dma_mmap_coherent(&zach1->pdev->dev, vma, zach1->buffers, zach1->address,
				 ALL_BYTES);
}

static int zach1_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct zach1 *zach1 = zach1_of(file);
	unsigned long at = vma->vm_pgoff << PAGE_SHIFT;
	int ret = -EINVAL;

	mutex_lock(&zach1->control);
	if (zach1->gone)
		ret = -ENODEV;
	else if (at == ZACH1_BUFFERS_AT)
		ret = map_buffers(zach1, vma);
	else if (at == ZACH1_FRAMEBUFFER_AT)
		ret = map_framebuffer(zach1, vma);
	mutex_unlock(&zach1->control);
	return ret;
}

static int zach1_open(struct inode *inode, struct file *file)
{
	struct zach1 *zach1 = zach1_of(file);
	int ret = 0;

	mutex_lock(&zach1->control);
	if (zach1->gone)
		ret = -ENODEV;
	else if (zach1->file)
		ret = -EBUSY;
	else
		zach1->file = file;
	if (!ret)
		kref_get(&zach1->users);
	mutex_unlock(&zach1->control);
	return ret;
}

/* Closes the file, and drops the buffers that are not drawn yet. */
static int zach1_release(struct inode *inode, struct file *file)
{
	struct zach1 *zach1 = zach1_of(file);

	mutex_lock(&zach1->control);
	zach1->file = NULL;
	if (!zach1->gone)
		reset_card(zach1);
	mutex_unlock(&zach1->control);
	kref_put(&zach1->users, zach1_free);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = zach1_open,
	.release = zach1_release,
	.mmap = zach1_mmap,
	.unlocked_ioctl = zach1_ioctl,
};

/* --- the card comes and goes --------------------------------------------------------- */

static int map_card(struct zach1 *zach1)
{
	struct pci_dev *pdev = zach1->pdev;
	int ret = pci_enable_device(pdev);

	if (ret)
		return ret;
	ret = pci_request_regions(pdev, "zach1");
	if (ret)
		goto disable;
	ret = -ENODEV;
	zach1->registers = pci_iomap(pdev, ZACH1_BAR_CONTROL, 0);
	if (!zach1->registers)
		goto release;
	if (ioread32(zach1->registers + ZACH1_ID) != ZACH1_ID_RESET_VALUE)
		goto unmap;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto unmap;
	pci_set_master(pdev);
	iowrite32(ZACH1_CONTROL_RESET_MASK, zach1->registers + ZACH1_CONTROL);
	return 0;

unmap:
	pci_iounmap(pdev, zach1->registers);
release:
	pci_release_regions(pdev);
disable:
	pci_disable_device(pdev);
	return ret;
}

static void unmap_card(struct zach1 *zach1)
{
	pci_clear_master(zach1->pdev);
	pci_iounmap(zach1->pdev, zach1->registers);
	pci_release_regions(zach1->pdev);
	pci_disable_device(zach1->pdev);
}

static int start_interrupts(struct zach1 *zach1)
{
	struct pci_dev *pdev = zach1->pdev;
	int ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_ALL_TYPES);

	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, 0), handle, IRQF_SHARED, zach1->name,
			  zach1);
	if (ret)
		pci_free_irq_vectors(pdev);
	else
		enable_interrupts(zach1);
	return ret;
}

static void stop_interrupts(struct zach1 *zach1)
{
	iowrite32(0, zach1->registers + ZACH1_ENABLE);
	free_irq(pci_irq_vector(zach1->pdev, 0), zach1);
	pci_free_irq_vectors(zach1->pdev);
}

static struct zach1 *zach1_alloc(struct pci_dev *pdev)
{
	struct zach1 *zach1 = kzalloc(sizeof(*zach1), GFP_KERNEL);

	if (!zach1)
		return NULL;
	kref_init(&zach1->users);
	mutex_init(&zach1->control);
	spin_lock_init(&zach1->lock);
	init_waitqueue_head(&zach1->progress);
	zach1->pdev = pdev;
	return zach1;
}

static void name_node(struct zach1 *zach1)
{
	snprintf(zach1->name, sizeof(zach1->name), "zach1_%d", zach1->number);
	zach1->node = (struct miscdevice){ .minor = MISC_DYNAMIC_MINOR,
					   .name = zach1->name,
					   .fops = &operations,
					   .parent = &zach1->pdev->dev };
}

static int zach1_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct zach1 *zach1 = zach1_alloc(pdev);
	int ret;

	if (!zach1)
		return -ENOMEM;
	ret = zach1->number = ida_alloc(&numbers, GFP_KERNEL);
	if (ret < 0)
		goto put;
	name_node(zach1);
	ret = map_card(zach1);
	if (ret)
		goto free_number;
	ret = -ENOMEM;
	zach1->buffers =
		dma_alloc_coherent(&pdev->dev, ALL_BYTES, &zach1->address, GFP_KERNEL);
	if (!zach1->buffers)
		goto unmap;
	ret = start_interrupts(zach1);
	if (ret)
		goto free_buffers;
	pci_set_drvdata(pdev, zach1);
	ret = misc_register(&zach1->node);
	if (ret)
		goto stop;
	return 0;

stop:
	stop_interrupts(zach1);
free_buffers:
	dma_free_coherent(&pdev->dev, ALL_BYTES, zach1->buffers, zach1->address);
unmap:
	unmap_card(zach1);
free_number:
	ida_free(&numbers, zach1->number);
put:
	kref_put(&zach1->users, zach1_free);
	return ret;
}

/* Ends the program's calls, and removes the program's mappings before the memory is freed. */
static void cut_off(struct zach1 *zach1)
{
	mutex_lock(&zach1->control);
	spin_lock_irq(&zach1->lock);
	zach1->gone = true;
	iowrite32(ZACH1_CONTROL_RESET_MASK, zach1->registers + ZACH1_CONTROL);
	spin_unlock_irq(&zach1->lock);
	wake_up_all(&zach1->progress);
	if (zach1->file)
		unmap_mapping_range(zach1->file->f_mapping, 0, 0, 1);
	mutex_unlock(&zach1->control);
}

static void zach1_remove(struct pci_dev *pdev)
{
	struct zach1 *zach1 = pci_get_drvdata(pdev);

	misc_deregister(&zach1->node);
	cut_off(zach1);
	stop_interrupts(zach1);
	dma_free_coherent(&pdev->dev, ALL_BYTES, zach1->buffers, zach1->address);
	unmap_card(zach1);
	ida_free(&numbers, zach1->number);
	kref_put(&zach1->users, zach1_free);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(ZACH1_VENDOR_ID, ZACH1_DEVICE_ID) },
	{},
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver zach1_driver = {
	.name = "zach1",
	.id_table = ids,
	.probe = zach1_probe,
	.remove = zach1_remove,
};
module_pci_driver(zach1_driver);
MODULE_DESCRIPTION("Reference driver of Zach 1");
MODULE_LICENSE("GPL");
