// SPDX-License-Identifier: GPL-2.0
/*
 * Hands over commands to the daemon, through a ring that the daemon maps and reads.  The daemon
 * waits for commands in an ioctl of /dev/vgpuSLOT (console.h).
 *
 * Only one daemon can open the device at a time.  If the daemon dies, another one can continue: the
 * pairs that the first daemon did not report as done are handed out again, and the page with the
 * first daemon's state still exists.  An open file can outlive the card, so the file and the card
 * each hold a reference to the console.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "console.h"
#include "../vpcib/compat.h"

#define RING_BYTES (CONSOLE_PAIRS * sizeof(struct console_pair))
#define NAME_BYTES 16

struct console {
	struct kref users;
	struct miscdevice node;
	char name[NAME_BYTES];
	const struct console_events *events;
	u32 framebuffer_bar;
	struct console_pair *ring;
	void *kept; /* page for the daemon's state */
	wait_queue_head_t waiting;
	struct irq_work wake; /* wakes the daemon, from any context */
	atomic_t daemons;

	struct mutex alive; /* held while a call of the daemon uses the card */
	struct vgpu *device; /* NULL: the card was pulled out */

	/* guarded by the card's lock */
	u64 head; /* pairs handed over */
	u64 tail; /* pairs carried out, or dropped */
};

static void console_free(struct kref *users)
{
	struct console *console = container_of(users, struct console, users);

	vfree(console->ring);
	vfree(console->kept);
	kfree(console);
}

static void wake(struct irq_work *work)
{
	wake_up(&container_of(work, struct console, wake)->waiting);
}

/* --- the card's side ---------------------------------------------------------------- */

u32 console_room(const struct console *console)
{
	return CONSOLE_PAIRS - (u32)(console->head - console->tail);
}

void console_push(struct console *console, struct console_pair pair)
{
	console->ring[console->head % CONSOLE_PAIRS] = pair;
	WRITE_ONCE(console->head, console->head + 1);
	irq_work_queue(&console->wake);
}

void console_drop(struct console *console)
{
	WRITE_ONCE(console->tail, console->head);
}

/* --- the daemon's side -------------------------------------------------------------- */

static struct console *console_of(struct file *file)
{
	return container_of(file->private_data, struct console, node);
}

static int open_file(struct inode *inode, struct file *file)
{
	struct console *console = console_of(file);

	if (atomic_cmpxchg(&console->daemons, 0, 1))
		return -EBUSY;
	kref_get(&console->users);
	return 0;
}

static int release_file(struct inode *inode, struct file *file)
{
	struct console *console = console_of(file);

	atomic_set(&console->daemons, 0);
	kref_put(&console->users, console_free);
	return 0;
}

/* Handles the daemon's report; pairs that have been dropped since are ignored. */
static void report(struct console *console, const struct console_next *next)
{
	struct vgpu *device = console->device;
	u64 at = READ_ONCE(console->tail);
	unsigned long flags;

	if (next->done < at || next->done > READ_ONCE(console->head))
		return;
	for (; at < next->done; at++)
		console->events->passed(device, &console->ring[at % CONSOLE_PAIRS]);
	flags = vgpu_lock(device);
	if (console->tail < next->done)
		console->tail = next->done;
	vgpu_unlock(device, flags);
	if (next->error)
		console->events->failed(device, next->error);
	console->events->advanced(device);
}

static bool is_ready(const struct console *console)
{
	return !READ_ONCE(console->device) ||
	       READ_ONCE(console->head) != READ_ONCE(console->tail);
}

static int tell(struct console *console, struct console_next *next)
{
	unsigned long flags;

	mutex_lock(&console->alive);
	if (console->device) {
		flags = vgpu_lock(console->device);
		next->from = console->tail;
		next->to = console->head;
		vgpu_unlock(console->device, flags);
	}
	mutex_unlock(&console->alive);
	return console->device ? 0 : -ENODEV;
}

static int wait_for_more(struct console *console, struct console_next *next)
{
	int ret;

	do {
		ret = wait_event_interruptible(console->waiting, is_ready(console));
		if (!ret)
			ret = tell(console, next);
	} while (!ret && next->from == next->to);
	return ret;
}

static long control_file(struct file *file, unsigned int request,
			 unsigned long argument)
{
	struct console *console = console_of(file);
	void __user *at = (void __user *)argument;
	struct console_next next;
	int ret;

	if (request != CONSOLE_NEXT)
		return -ENOTTY;
	if (copy_from_user(&next, at, sizeof(next)))
		return -EFAULT;
	mutex_lock(&console->alive);
	if (console->device)
		report(console, &next);
	mutex_unlock(&console->alive);
	ret = wait_for_more(console, &next);
	if (!ret && copy_to_user(at, &next, sizeof(next)))
		ret = -EFAULT;
	return ret;
}

static int map_ring(struct console *console, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, console->ring, 0);
}

static int map_kept(struct console *console, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return remap_vmalloc_range(vma, console->kept, 0);
}

static int map_framebuffer(struct console *console, struct vm_area_struct *vma)
{
	unsigned long wanted = vma_pages(vma);
	struct page **memory;
	u32 pages;

	memory = vpcib_memory(console->device->card, console->framebuffer_bar, &pages);
	if (wanted > pages || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return vm_insert_pages(vma, vma->vm_start, memory, &wanted);
}

static int map_file(struct file *file, struct vm_area_struct *vma)
{
	struct console *console = console_of(file);
	unsigned long at = vma->vm_pgoff << PAGE_SHIFT;
	int ret = -EINVAL;

	mutex_lock(&console->alive);
	if (!console->device)
		ret = -ENODEV;
	else if (at == CONSOLE_RING_AT)
		ret = map_ring(console, vma);
	else if (at == CONSOLE_FRAMEBUFFER_AT)
		ret = map_framebuffer(console, vma);
	else if (at == CONSOLE_KEPT_AT)
		ret = map_kept(console, vma);
	mutex_unlock(&console->alive);
	return ret;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open_file,
	.release = release_file,
	.unlocked_ioctl = control_file,
	.mmap = map_file,
};

/* --- beginning and end -------------------------------------------------------------- */

struct console *console_open(struct vgpu *device, u32 framebuffer_bar,
			     const struct console_events *events)
{
	struct console *console = kzalloc(sizeof(*console), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!console)
		return ERR_PTR(ret);
	kref_init(&console->users);
	mutex_init(&console->alive);
	init_waitqueue_head(&console->waiting);
	init_irq_work(&console->wake, wake);
	console->device = device;
	console->events = events;
	console->framebuffer_bar = framebuffer_bar;
	snprintf(console->name, NAME_BYTES, "vgpu%u", vpcib_number(device->card));
	console->node = (struct miscdevice){ .minor = MISC_DYNAMIC_MINOR,
					     .name = console->name,
					     .fops = &operations,
					     .mode = 0600 };
	console->ring = vmalloc_user(RING_BYTES);
	console->kept = vmalloc_user(CONSOLE_KEPT_BYTES);
	if (console->ring && console->kept)
		ret = misc_register(&console->node);
	if (ret) {
		kref_put(&console->users, console_free);
		return ERR_PTR(ret);
	}
	return console;
}

void console_close(struct console *console)
{
	misc_deregister(&console->node);
	mutex_lock(&console->alive);
	WRITE_ONCE(console->device, NULL);
	mutex_unlock(&console->alive);
	irq_work_sync(&console->wake);
	wake_up_all(&console->waiting);
	kref_put(&console->users, console_free);
}
