// SPDX-License-Identifier: GPL-2.0
/*
 * Intercepts the functions by which a driver gives memory to its card and takes it back, or syncs it.  Calls for
 * other devices are not intercepted.  The functions do their usual work, and dma.c records the
 * memory.
 *
 * A call can be intercepted reliably only if the function and its caller are in different files of
 * the kernel.  Within a file, the compiler may inline the function into its caller, so that no call
 * exists.  This happens to dma_free_attrs() and to the devres function that frees memory.  So the
 * functions below dma_alloc_attrs() and its relatives are intercepted instead.  Virtual cards have
 * no IOMMU, so these are always the functions of the direct mapping.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>

#include "card.h"
#include "compat.h"
#include "../iprobe/iprobe.h"

enum function {
	ALLOC,
	FREE,
	PAGES,
	FREE_PAGES,
	MAP,
	UNMAP,
	MAP_SG,
	MAP_SGTABLE,
	UNMAP_SG,
	TO_CPU,
	TO_CARD,
	SG_TO_CPU,
	SG_TO_CARD,
	FUNCTIONS
};

static struct iprobe probes[FUNCTIONS];

static gfp_t like(gfp_t gfp)
{
	return gfpflags_allow_blocking(gfp) ? GFP_KERNEL : GFP_ATOMIC;
}

static void *our_alloc(struct device *dev, size_t bytes, dma_addr_t *address, gfp_t gfp,
		       unsigned long attributes)
{
	typeof(our_alloc) *original = probes[ALLOC].original;
	void *where = original(dev, bytes, address, gfp, attributes);

	if (where)
		dma_give(dev, *address, bytes, DMA_BIDIRECTIONAL, like(gfp));
	iprobe_done(&probes[ALLOC]);
	return where;
}

static void our_free(struct device *dev, size_t bytes, void *where, dma_addr_t address,
		     unsigned long attributes)
{
	typeof(our_free) *original = probes[FREE].original;

	dma_take_back(dev, address, bytes, DMA_BIDIRECTIONAL);
	original(dev, bytes, where, address, attributes);
	iprobe_done(&probes[FREE]);
}

static struct page *our_pages(struct device *dev, size_t bytes, dma_addr_t *address,
			      enum dma_data_direction direction, gfp_t gfp)
{
	typeof(our_pages) *original = probes[PAGES].original;
	struct page *page = original(dev, bytes, address, direction, gfp);

	if (page)
		dma_give(dev, *address, bytes, direction, like(gfp));
	iprobe_done(&probes[PAGES]);
	return page;
}

static void our_free_pages(struct device *dev, size_t bytes, struct page *page,
			   dma_addr_t address, enum dma_data_direction direction)
{
	typeof(our_free_pages) *original = probes[FREE_PAGES].original;

	dma_take_back(dev, address, bytes, direction);
	original(dev, bytes, page, address, direction);
	iprobe_done(&probes[FREE_PAGES]);
}

static dma_addr_t our_map(struct device *dev, struct page *page, size_t offset,
			  size_t bytes, enum dma_data_direction direction,
			  unsigned long attributes)
{
	typeof(our_map) *original = probes[MAP].original;
	dma_addr_t address = DMA_MAPPING_ERROR;

	if (!refusal_at(probes[MAP].symbol, _RET_IP_))
		address = original(dev, page, offset, bytes, direction, attributes);
	dma_never_skip_sync(dev);
	if (!dma_mapping_error(dev, address))
		dma_give_mapped(dev, address, bytes, direction);
	iprobe_done(&probes[MAP]);
	return address;
}

static void our_unmap(struct device *dev, dma_addr_t address, size_t bytes,
		      enum dma_data_direction direction, unsigned long attributes)
{
	typeof(our_unmap) *original = probes[UNMAP].original;

	dma_take_back(dev, address, bytes, direction);
	original(dev, address, bytes, direction, attributes);
	iprobe_done(&probes[UNMAP]);
}

static void give_each(struct device *dev, struct scatterlist *list, int count,
		      enum dma_data_direction direction)
{
	struct scatterlist *one;
	int i;

	dma_never_skip_sync(dev);
	for_each_sg(list, one, count, i)
		dma_give_mapped(dev, sg_dma_address(one), sg_dma_len(one), direction);
}

static unsigned int our_map_sg(struct device *dev, struct scatterlist *list, int count,
			       enum dma_data_direction direction,
			       unsigned long attributes)
{
	typeof(our_map_sg) *original = probes[MAP_SG].original;
	unsigned int mapped = original(dev, list, count, direction, attributes);

	give_each(dev, list, mapped, direction);
	iprobe_done(&probes[MAP_SG]);
	return mapped;
}

static int our_map_sgtable(struct device *dev, struct sg_table *table,
			   enum dma_data_direction direction, unsigned long attributes)
{
	typeof(our_map_sgtable) *original = probes[MAP_SGTABLE].original;
	int ret = original(dev, table, direction, attributes);

	if (!ret)
		give_each(dev, table->sgl, table->nents, direction);
	iprobe_done(&probes[MAP_SGTABLE]);
	return ret;
}

static void our_unmap_sg(struct device *dev, struct scatterlist *list, int count,
			 enum dma_data_direction direction, unsigned long attributes)
{
	typeof(our_unmap_sg) *original = probes[UNMAP_SG].original;
	struct scatterlist *one;
	int i;

	for_each_sg(list, one, count, i)
		dma_take_back(dev, sg_dma_address(one), sg_dma_len(one), direction);
	original(dev, list, count, direction, attributes);
	iprobe_done(&probes[UNMAP_SG]);
}

static void our_sync_cpu(struct device *dev, dma_addr_t address, size_t bytes,
			 enum dma_data_direction direction)
{
	typeof(our_sync_cpu) *original = probes[TO_CPU].original;

	original(dev, address, bytes, direction);
	dma_sync(dev, address, bytes, false);
	iprobe_done(&probes[TO_CPU]);
}

static void our_sync_card(struct device *dev, dma_addr_t address, size_t bytes,
			  enum dma_data_direction direction)
{
	typeof(our_sync_card) *original = probes[TO_CARD].original;

	original(dev, address, bytes, direction);
	dma_sync(dev, address, bytes, true);
	iprobe_done(&probes[TO_CARD]);
}

static void sync_each(struct device *dev, struct scatterlist *list, int count,
		      bool for_card)
{
	struct scatterlist *one;
	int i;

	for_each_sg(list, one, count, i)
		dma_sync(dev, sg_dma_address(one), sg_dma_len(one), for_card);
}

static void our_sync_sg_cpu(struct device *dev, struct scatterlist *list, int count,
			    enum dma_data_direction direction)
{
	typeof(our_sync_sg_cpu) *original = probes[SG_TO_CPU].original;

	original(dev, list, count, direction);
	sync_each(dev, list, count, false);
	iprobe_done(&probes[SG_TO_CPU]);
}

static void our_sync_sg_card(struct device *dev, struct scatterlist *list, int count,
			     enum dma_data_direction direction)
{
	typeof(our_sync_sg_card) *original = probes[SG_TO_CARD].original;

	original(dev, list, count, direction);
	sync_each(dev, list, count, true);
	iprobe_done(&probes[SG_TO_CARD]);
}

static bool is_for_card(struct iprobe *probe, struct pt_regs *regs)
{
	bool ours;

	rcu_read_lock();
	ours = card_of((struct device *)regs->di);
	rcu_read_unlock();
	return ours;
}

static const struct {
	const char *symbol;
	void *replacement;
} functions[] = {
	[ALLOC] = { "dma_direct_alloc", our_alloc },
	[FREE] = { "dma_direct_free", our_free },
	[PAGES] = { "dma_direct_alloc_pages", our_pages },
	[FREE_PAGES] = { "dma_direct_free_pages", our_free_pages },
	[MAP] = { "dma_map_page_attrs", our_map },
	[UNMAP] = { "dma_unmap_page_attrs", our_unmap },
	[MAP_SG] = { "dma_map_sg_attrs", our_map_sg },
	[MAP_SGTABLE] = { "dma_map_sgtable", our_map_sgtable },
	[UNMAP_SG] = { "dma_unmap_sg_attrs", our_unmap_sg },
	[TO_CPU] = { DMA_SYNC(single_for_cpu), our_sync_cpu },
	[TO_CARD] = { DMA_SYNC(single_for_device), our_sync_card },
	[SG_TO_CPU] = { DMA_SYNC(sg_for_cpu), our_sync_sg_cpu },
	[SG_TO_CARD] = { DMA_SYNC(sg_for_device), our_sync_sg_card },
};

int dma_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		int ret;

		probes[i] = (struct iprobe){ .symbol = functions[i].symbol,
					     .replacement = functions[i].replacement,
					     .decide = is_for_card };
		ret = iprobe_register(&probes[i]);
		if (ret) {
			pr_err("can't intercept %s\n", functions[i].symbol);
			while (i--)
				iprobe_unregister(&probes[i]);
			return ret;
		}
	}
	return 0;
}

void dma_exit(void)
{
	u32 i = ARRAY_SIZE(functions);

	while (i--)
		iprobe_unregister(&probes[i]);
}
