// SPDX-License-Identifier: GPL-2.0
/*
 * The fault "request": the kernel refuses a driver the N-th of its requests for memory, for a part
 * of its card, or for a name, such as kmalloc, pci_iomap, request_irq or alloc_chrdev_region.  So
 * the paths in a driver that undo what was done are executed.
 *
 * A request is a call of a function in the table below by code of the module that was loaded last,
 * from the begin of its init function on.  The function is not executed, and its caller gets an error.
 * Of one function, the kernel lets only one interception change where it goes on.  So functions that
 * the bus intercepts for another reason are not in the table, and their replacements ask here: those
 * for interrupts (irqs.c), for mappings for DMA (dma_hooks.c), and, with the parameter "races", for
 * pages (pages.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "breakpoint.h"
#include "card.h"

/* What runs instead of a function that refuses. */
static long null(void)
{
	return 0;
}

static long no_memory(void)
{
	return -ENOMEM;
}

static long no_device(void)
{
	return -ENODEV;
}

static long no_space(void)
{
	return -ENOSPC;
}

static long busy(void)
{
	return -EBUSY;
}

struct request {
	struct kprobe probe;
	long (*refusal)(void);
	bool intercepted;
};

static int at_request(struct kprobe *probe, struct pt_regs *regs);

#define REQUEST(function, instead)                             \
	{                                                      \
		.probe = { .symbol_name = function,            \
			   .pre_handler = at_request,          \
			   .post_handler = stays_breakpoint }, \
		.refusal = instead                             \
	}

/* A kernel has some of these names: newer ones have those with "noprof". */
static struct request requests[] = {
	REQUEST("kmalloc_trace", null),
	REQUEST("__kmalloc_cache_noprof", null),
	REQUEST("kvmalloc_node", null),
	REQUEST("__kvmalloc_node_noprof", null),
	REQUEST("kstrdup", null),
	REQUEST("kstrdup_noprof", null),
	REQUEST("kmemdup", null),
	REQUEST("kmemdup_noprof", null),
	REQUEST("kasprintf", null),
	REQUEST("vmalloc", null),
	REQUEST("vmalloc_noprof", null),
	REQUEST("vzalloc", null),
	REQUEST("vzalloc_noprof", null),
	REQUEST("devm_kmalloc", null),
	REQUEST("devm_kasprintf", null),
	REQUEST("dma_alloc_attrs", null),
	REQUEST("dmam_alloc_attrs", null),
	REQUEST("dma_pool_create", null),
	REQUEST("dma_pool_create_node", null),
	REQUEST("dmam_pool_create", null),
	REQUEST("dma_pool_alloc", null),
	REQUEST("pci_enable_device", no_device),
	REQUEST("pci_enable_device_mem", no_device),
	REQUEST("pcim_enable_device", no_device),
	REQUEST("pci_request_region", busy),
	REQUEST("pci_request_regions", busy),
	REQUEST("pci_request_selected_regions", busy),
	REQUEST("pcim_iomap_regions", busy),
	REQUEST("pci_iomap", null),
	REQUEST("pcim_iomap", null),
	REQUEST("pci_ioremap_bar", null),
	REQUEST("ioremap", null),
	REQUEST("devm_ioremap", null),
	REQUEST("pci_enable_msi", no_space),
	REQUEST("pci_alloc_irq_vectors", no_space),
	REQUEST("pci_alloc_irq_vectors_affinity", no_space),
	REQUEST("alloc_chrdev_region", busy),
	REQUEST("register_chrdev_region", busy),
	REQUEST("__register_chrdev", busy),
	REQUEST("cdev_alloc", null),
	REQUEST("cdev_add", no_memory),
	REQUEST("cdev_device_add", no_memory),
	REQUEST("misc_register", no_memory),
	REQUEST("class_create", no_memory),
	REQUEST("__class_create", no_memory),
	REQUEST("device_create", no_memory),
	REQUEST("ida_alloc_range", no_memory),
	REQUEST("idr_alloc", no_memory),
	REQUEST("alloc_workqueue", null),
	REQUEST("kthread_create_on_node", no_memory),
	REQUEST("kmem_cache_create", null),
	REQUEST("proc_create", null),
	REQUEST("alloc_etherdev_mqs", null),
	REQUEST("register_netdev", no_memory),
};

static struct module *loaded; /* last, and still there */

/* Returns whether a call of a function is refused.  Context: any. */
bool refusal_at(const char *function, unsigned long caller)
{
	struct module *module = READ_ONCE(loaded);

	if (!module || !within_module(caller, module) || !fault_is_due(FAULT_REQUEST))
		return false;
	pr_info("fault: %pS is refused %s\n", (void *)caller, function);
	return true;
}

/* Returns 1 if the request is refused: another function runs instead. */
static int at_request(struct kprobe *probe, struct pt_regs *regs)
{
	const struct request *request = container_of(probe, struct request, probe);

	if (!refusal_at(probe->symbol_name, *(unsigned long *)regs->sp))
		return 0;
	regs->ip = (unsigned long)request->refusal;
	return 1;
}

/* Returns whether the bus is to refuse what is named.  Context: any. */
bool refusal_of(const char *name)
{
	bool is = fault_is_due(FAULT_REQUEST);

	if (is)
		pr_info("fault: the driver is refused %s\n", name);
	return is;
}

static int module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	if (state == MODULE_STATE_COMING)
		WRITE_ONCE(loaded, data);
	else if (state == MODULE_STATE_GOING && READ_ONCE(loaded) == data)
		WRITE_ONCE(loaded, NULL);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

/* Intercepts the requests, or no longer.  Returns 0 or a negative errno. */
int refusal_watch(bool on)
{
	static bool watches;
	struct request *request;
	u32 count = 0;
	int ret;

	if (on == watches)
		return 0;
	for (request = requests; request < requests + ARRAY_SIZE(requests); request++) {
		if (request->intercepted)
			unregister_kprobe(&request->probe);
		/* or else it can't be registered again, or only switched off */
		request->probe.addr = NULL;
		request->probe.flags = 0;
		ret = on ? register_kprobe(&request->probe) : -ENOENT;
		request->intercepted = !ret;
		count += !ret;
		if (ret && ret != -ENOENT)
			pr_warn("can't refuse %s: %d\n", request->probe.symbol_name,
				ret);
	}
	watches = on;
	if (on && !count) {
		pr_err("can't intercept the requests of drivers\n");
		return -ENOENT;
	}
	return 0;
}

int refusal_init(void)
{
	return register_module_notifier(&module_notifier);
}

void refusal_exit(void)
{
	unregister_module_notifier(&module_notifier);
	refusal_watch(false);
}
