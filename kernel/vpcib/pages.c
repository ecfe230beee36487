// SPDX-License-Identifier: GPL-2.0
/*
 * A list of the pages that modules have allocated and not freed, which tells the referee what a
 * driver leaks: the file vpcib_pages of debugfs.  It has a line for each allocation, with the place
 * in the module to which it returned; an address without a name is one of an unloaded module.
 *
 * Calls of the functions below by a module are intercepted, but not those by which the kernel gets
 * pages for a module (kvmalloc).  Any part of the kernel may free pages, so for that the kernel's
 * tracepoint is used.  Smaller pieces of memory and those of vmalloc are in lists of the kernel.
 *
 * Active only with the parameter "races".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>

#include "card.h"
#include "../iprobe/iprobe.h"

#define KEPT_MOST 4096 /* further ones are not in the list */

struct kept {
	struct hlist_node node;
	unsigned long pfn;
	unsigned long caller;
};

static struct kept kept[KEPT_MOST];
static HLIST_HEAD(unused);
static DEFINE_HASHTABLE(by_pfn, 10);
static DEFINE_RAW_SPINLOCK(kept_lock);

static void keep(unsigned long pfn, unsigned long caller)
{
	unsigned long flags;
	struct kept *one;

	raw_spin_lock_irqsave(&kept_lock, flags);
	one = hlist_entry_safe(unused.first, struct kept, node);
	if (one) {
		hlist_del(&one->node);
		one->pfn = pfn;
		one->caller = caller;
		hash_add(by_pfn, &one->node, pfn);
	}
	raw_spin_unlock_irqrestore(&kept_lock, flags);
}

static void page_freed(void *data, struct page *page, unsigned int order)
{
	unsigned long flags, pfn = page_to_pfn(page);
	struct kept *one;

	/* Without the lock: an allocation is in the list before the module has its address. */
	if (hlist_empty(&by_pfn[hash_min(pfn, HASH_BITS(by_pfn))]))
		return;
	raw_spin_lock_irqsave(&kept_lock, flags);
	hash_for_each_possible (by_pfn, one, node, pfn)
		if (one->pfn == pfn) {
			hash_del(&one->node);
			one->caller = 0;
			hlist_add_head(&one->node, &unused);
			break;
		}
	raw_spin_unlock_irqrestore(&kept_lock, flags);
}

static bool by_module(struct iprobe *probe, struct pt_regs *regs)
{
	unsigned long caller = *(unsigned long *)regs->sp;

	/* Some of the functions end with a jump to another one, with our address on the stack. */
	return caller >= MODULES_VADDR && caller < MODULES_END &&
	       !within_module(caller, THIS_MODULE);
}

typedef unsigned long allocator(unsigned long a, unsigned long b, unsigned long c,
				unsigned long d);

enum function {
	PAGES,
	PAGES_NODE,
	ADDRESS,
	ZEROED,
	EXACT,
	LARGE,
	LARGE_NODE,
	KMALLOC,
	KMALLOC_NODE,
	FUNCTIONS
};

static struct iprobe probes[FUNCTIONS];

static unsigned long passed_on(enum function which, unsigned long caller,
			       unsigned long a, unsigned long b, unsigned long c,
			       unsigned long d)
{
	allocator *original = probes[which].original;
	unsigned long where;
	struct page *page;

	if (refusal_at(probes[which].symbol, caller))
		return 0;
	where = original(a, b, c, d);
	if (ZERO_OR_NULL_PTR((void *)where))
		return where;
	page = which == PAGES || which == PAGES_NODE ? (struct page *)where
						     : virt_to_page((void *)where);
	if (!folio_test_slab(page_folio(page)))
		keep(page_to_pfn(page), caller);
	return where;
}

#define REPLACEMENT(which)                                                    \
	static unsigned long our_##which(unsigned long a, unsigned long b,    \
					 unsigned long c, unsigned long d)    \
	{                                                                     \
		unsigned long where = passed_on(which, _RET_IP_, a, b, c, d); \
                                                                              \
		iprobe_done(&probes[which]);                                  \
		return where;                                                 \
	}

REPLACEMENT(PAGES)
REPLACEMENT(PAGES_NODE)
REPLACEMENT(ADDRESS)
REPLACEMENT(ZEROED)
REPLACEMENT(EXACT)
REPLACEMENT(LARGE)
REPLACEMENT(LARGE_NODE)
REPLACEMENT(KMALLOC)
REPLACEMENT(KMALLOC_NODE)

/* The second name is that of newer kernels. */
static const struct {
	const char *names[2];
	allocator *replacement;
} functions[] = {
	[PAGES] = { { "alloc_pages", "alloc_pages_noprof" }, our_PAGES },
	[PAGES_NODE] = { { "__alloc_pages", "__alloc_pages_noprof" }, our_PAGES_NODE },
	[ADDRESS] = { { "__get_free_pages", "get_free_pages_noprof" }, our_ADDRESS },
	[ZEROED] = { { "get_zeroed_page", "get_zeroed_page_noprof" }, our_ZEROED },
	[EXACT] = { { "alloc_pages_exact", "alloc_pages_exact_noprof" }, our_EXACT },
	[LARGE] = { { "kmalloc_large", "__kmalloc_large_noprof" }, our_LARGE },
	[LARGE_NODE] = { { "kmalloc_large_node", "__kmalloc_large_node_noprof" },
			 our_LARGE_NODE },
	[KMALLOC] = { { "__kmalloc", "__kmalloc_noprof" }, our_KMALLOC },
	[KMALLOC_NODE] = { { "__kmalloc_node", "__kmalloc_node_noprof" },
			   our_KMALLOC_NODE },
};

static int pages_show(struct seq_file *to, void *data)
{
	u32 i;

	for (i = 0; i < KEPT_MOST; i++) {
		unsigned long caller = READ_ONCE(kept[i].caller);

		if (caller)
			seq_printf(to, "%pS\n", (void *)caller);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pages);

static struct dentry *file;
static struct tracepoint *freed; /* NULL if page_freed is not called */

static void is_freed(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "mm_page_free"))
		freed = tracepoint;
}

static int intercept(enum function which)
{
	int ret = -ENOENT;
	u32 i;

	for (i = 0; ret == -ENOENT && i < ARRAY_SIZE(functions[which].names); i++) {
		probes[which] =
			(struct iprobe){ .symbol = functions[which].names[i],
					 .replacement = functions[which].replacement,
					 .decide = by_module };
		ret = iprobe_register(&probes[which]);
	}
	if (ret)
		pr_err("can't intercept %s\n", functions[which].names[0]);
	return ret;
}

int pages_init(void)
{
	int ret;
	u32 i;

	if (!interrupt_races())
		return 0;
	for (i = 0; i < KEPT_MOST; i++)
		hlist_add_head(&kept[i].node, &unused);
	for_each_kernel_tracepoint(is_freed, NULL);
	ret = freed ? tracepoint_probe_register(freed, page_freed, NULL) : -ENOENT;
	if (ret)
		freed = NULL;
	for (i = 0; !ret && i < FUNCTIONS; i++)
		ret = intercept(i);
	if (ret)
		pages_exit();
	else
		file = debugfs_create_file("vpcib_pages", 0400, NULL, NULL,
					   &pages_fops);
	return ret;
}

void pages_exit(void)
{
	u32 i = FUNCTIONS;

	debugfs_remove(file);
	while (i--)
		if (iprobe_registered(&probes[i]))
			iprobe_unregister(&probes[i]);
	if (freed) {
		tracepoint_probe_unregister(freed, page_freed, NULL);
		tracepoint_synchronize_unregister();
	}
}
