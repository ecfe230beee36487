// SPDX-License-Identifier: GPL-2.0
/*
 * The journal records all actions between drivers and cards, in order.  Programs read it from
 * /dev/vpcib.
 *
 * The journal is a ring buffer.  A reader that is too slow finds a gap in the records' numbers.  A
 * read returns end-of-file after the newest record, and later reads return newer records.  So `cat`
 * prints all existing records, and `tail -f` also waits for new ones.
 *
 * With the parameter "journal_at", the journal is stored at a physical address, where the host can
 * read it even if the kernel has crashed.  In this case the journal keeps the first records instead
 * of the last records.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "card.h"

#define RECORDS_LEAST 64u
#define RECORDS_MOST (1u << 24)

static unsigned int journal_records = 1u << 16;
module_param(journal_records, uint, 0444);
MODULE_PARM_DESC(journal_records, "number of records in the journal, a power of two");

static unsigned long journal_at;
module_param(journal_at, ulong, 0400);
MODULE_PARM_DESC(
	journal_at,
	"physical address, not in kernel memory, of a page and records; 0: none");

static struct vpcib_journal *outside; /* the journal at "journal_at"; NULL: a ring */
static struct vpcib_access *ring;
static u64 written; /* number of records written */
static DEFINE_RAW_SPINLOCK(journal_lock);
static DECLARE_WAIT_QUEUE_HEAD(
	never_woken); /* readers poll, since records are written in any context */

u64 journal_note_number(u32 number, struct vpcib_access access)
{
	unsigned long flags;

	access.ns = ktime_get_ns();
	access.card = number;
	access.cpu = raw_smp_processor_id();
	access.pid = current->pid;
	raw_spin_lock_irqsave(&journal_lock, flags);
	access.number = written;
	if (!outside || written < journal_records)
		ring[written & (journal_records - 1)] = access;
	written++;
	if (outside)
		WRITE_ONCE(outside->written, written);
	raw_spin_unlock_irqrestore(&journal_lock, flags);
	return access.number;
}

void journal_note(const struct vpcib_card *card, struct vpcib_access access)
{
	journal_note_number(card->number, access);
}

/*
 * Finds the first existing record whose number is at least `number`.  Returns false if there is
 * none yet.
 */
static bool take(u64 number, struct vpcib_access *access)
{
	unsigned long flags;
	bool there;

	raw_spin_lock_irqsave(&journal_lock, flags);
	if (!outside && written > number + journal_records)
		number = written - journal_records;
	there = number < (outside ? min_t(u64, written, journal_records) : written);
	if (there)
		*access = ring[number & (journal_records - 1)];
	raw_spin_unlock_irqrestore(&journal_lock, flags);
	return there;
}

static ssize_t journal_read(struct file *file, char __user *to, size_t bytes,
			    loff_t *position)
{
	struct vpcib_access access;
	u64 next = *position / sizeof(access);
	ssize_t done = 0;

	while (bytes - done >= sizeof(access) && take(next, &access)) {
		if (copy_to_user(to + done, &access, sizeof(access)))
			return done ?: -EFAULT;
		done += sizeof(access);
		next = access.number + 1;
	}
	*position = next * sizeof(access);
	return done;
}

static const struct file_operations journal_operations = {
	.owner = THIS_MODULE,
	.read = journal_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vpcib",
	.fops = &journal_operations,
	.mode = 0400,
};

static int ring_alloc(void)
{
	size_t bytes = array_size(journal_records, sizeof(*ring));

	if (!journal_at) {
		ring = vzalloc(bytes);
		return ring ? 0 : -ENOMEM;
	}
	if (journal_at % PAGE_SIZE ||
	    journal_at > (1ul << boot_cpu_data.x86_phys_bits) - PAGE_SIZE - bytes ||
	    region_intersects(journal_at, PAGE_SIZE + bytes, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT) {
		pr_err("journal_at=%#lx: not a page that is followed by %zu bytes "
		       "outside the kernel's memory\n",
		       journal_at, bytes);
		return -EINVAL;
	}
	outside = memremap(journal_at, PAGE_SIZE + bytes, MEMREMAP_WB);
	if (!outside) {
		pr_err("journal_at: nothing can be mapped there\n");
		return -EINVAL;
	}
	ring = (void *)outside + PAGE_SIZE;
	return 0;
}

static void ring_free(void)
{
	if (outside)
		memunmap(outside);
	else
		vfree(ring);
}

int journal_init(void)
{
	int ret;

	if (!is_power_of_2(journal_records) || journal_records < RECORDS_LEAST ||
	    journal_records > RECORDS_MOST) {
		pr_err("journal_records: a power of two from %u to %u\n", RECORDS_LEAST,
		       RECORDS_MOST);
		return -EINVAL;
	}
	ret = ring_alloc();
	if (ret)
		return ret;
	ret = misc_register(&device);
	if (ret)
		ring_free();
	return ret;
}

void journal_exit(void)
{
	misc_deregister(&device);
	ring_free();
}
