// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of the virtual PCI bus, and /sys/kernel/vpcib:
 *
 *	add        write KIND to plug in a card of that kind
 *	remove     write SLOT to pull out the card in that slot
 *	fault      write KIND N to have a fault, read what is still to come (fault.c)
 *	fallbacks  number of instructions that the fallback has executed
 */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "card.h"
#include "fallback.h"

#define NAME_BYTES 32

static struct kobject *folder;

static ssize_t add_store(struct kobject *kobj, struct kobj_attribute *attr,
			 const char *page, size_t count)
{
	char name[NAME_BYTES];
	int ret;

	if (strscpy(name, page, sizeof(name)) < 0)
		return -ENOENT;
	ret = slots_add(strim(name));
	return ret < 0 ? ret : count;
}

static ssize_t remove_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *page, size_t count)
{
	u32 slot;
	int ret = kstrtou32(page, 0, &slot);

	if (!ret)
		ret = vpcib_remove(slot);
	return ret ?: count;
}

static ssize_t fault_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *page, size_t count)
{
	return fault_set(page) ?: count;
}

static ssize_t fault_read(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return fault_show(page);
}

static ssize_t fallbacks_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *page)
{
	return sysfs_emit(page, "%llu\n", fallback_count());
}

static struct kobj_attribute add_attr = __ATTR_WO(add);
static struct kobj_attribute remove_attr = __ATTR_WO(remove);
static struct kobj_attribute fault_attr = __ATTR(fault, 0600, fault_read, fault_store);
static struct kobj_attribute fallbacks_attr = __ATTR_RO(fallbacks);

static const struct attribute *attributes[] = { &add_attr.attr, &remove_attr.attr,
						&fault_attr.attr, &fallbacks_attr.attr,
						NULL };

static int folder_init(void)
{
	int ret;

	folder = kobject_create_and_add("vpcib", kernel_kobj);
	if (!folder)
		return -ENOMEM;
	ret = sysfs_create_files(folder, attributes);
	if (ret)
		kobject_put(folder);
	return ret;
}

static void folder_exit(void)
{
	kobject_put(folder);
}

/* The parts of the bus, started in this order and stopped in reverse order. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ journal_init, journal_exit },
	{ handler_init, handler_exit },
	{ interrupt_init, interrupt_exit },
	{ iommu_init, iommu_exit },
	{ bridge_init, bridge_exit },
	{ mapping_init, mapping_exit },
	{ fallback_init, fallback_exit },
	{ traps_init, traps_exit },
	{ dma_init, dma_exit },
	{ sleep_init, sleep_exit },
	{ bounds_init, bounds_exit },
	{ leaks_init, leaks_exit },
	{ pages_init, pages_exit },
	{ line_init, line_exit },
	{ refusal_init, refusal_exit },
	{ ports_init, ports_exit },
	{ folder_init, folder_exit },
};

static void take_down(u32 count)
{
	while (count--)
		parts[count].exit();
}

/*
 * notrace: with ftrace in use, the kernel keeps the names of traced init functions, and would give
 * them to addresses of a module that lies there later; the referee would not see whose they are.
 */
static int __init notrace vpcib_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		int ret = parts[i].init();

		if (ret) {
			take_down(i);
			return ret;
		}
	}
	return 0;
}

static void __exit vpcib_exit(void)
{
	take_down(ARRAY_SIZE(parts));
}

module_init(vpcib_init);
module_exit(vpcib_exit);
MODULE_DESCRIPTION("Virtual PCI bus: cards that a driver can't tell from real ones");
MODULE_LICENSE("GPL");
