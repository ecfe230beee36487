// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a copier memory to read by each kind of DMA mapping, and again after unmapping.
 * Prints "dma_kinds: WAY: right, refused" for each.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "copier_registers.h"

#define PIECES 3
#define ALL (PIECES * PAGE_SIZE)

static struct device *dev;
static void __iomem *registers;
static u8 *copy;
static dma_addr_t copy_address;

static void fill(u8 *memory, u8 seed)
{
	size_t i;

	for (i = 0; i < PAGE_SIZE; i++)
		memory[i] = seed + i % 251;
}

static bool transfer(dma_addr_t from)
{
	u32 status, tries = 1000;

	iowrite32(COPIER_COMMAND_OPERATION_COPY, registers + COPIER_COMMAND);
	iowrite64(from, registers + COPIER_SOURCE);
	iowrite64(copy_address, registers + COPIER_DESTINATION);
	iowrite32(PAGE_SIZE, registers + COPIER_LENGTH);
	iowrite32(1, registers + COPIER_START);
	do {
		usleep_range(100, 200);
		status = ioread32(registers + COPIER_STATUS);
	} while (!(status & (COPIER_STATUS_DONE_MASK | COPIER_STATUS_FAILED_MASK)) &&
		 --tries);
	iowrite32(status, registers + COPIER_STATUS);
	return status & COPIER_STATUS_DONE_MASK;
}

static bool copies(const u8 *memory, dma_addr_t address)
{
	memset(copy, 0, PAGE_SIZE);
	return transfer(address) && !memcmp(copy, memory, PAGE_SIZE);
}

static void tell(const char *way, bool right, dma_addr_t taken)
{
	pr_info("dma_kinds: %s: %s, %s\n", way, right ? "right" : "wrong",
		transfer(taken) ? "not refused" : "refused");
}

static void try_pages(void)
{
	dma_addr_t address;
	struct page *page =
		dma_alloc_pages(dev, PAGE_SIZE, &address, DMA_TO_DEVICE, GFP_KERNEL);
	bool right;

	fill(page_address(page), 1);
	right = copies(page_address(page), address);
	dma_free_pages(dev, PAGE_SIZE, page, address, DMA_TO_DEVICE);
	tell("pages", right, address);
}

static void try_pool(void)
{
	struct dma_pool *pool = dma_pool_create("kinds", dev, PAGE_SIZE, PAGE_SIZE, 0);
	dma_addr_t address;
	void *memory = dma_pool_alloc(pool, GFP_KERNEL, &address);
	bool right;

	fill(memory, 2);
	right = copies(memory, address);
	dma_pool_free(pool, memory, address);
	dma_pool_destroy(pool);
	tell("pool", right, address);
}

static void try_managed(const char *way, bool is_released)
{
	void *group = devres_open_group(dev, NULL, GFP_KERNEL);
	dma_addr_t address;
	void *memory = dmam_alloc_coherent(dev, PAGE_SIZE, &address, GFP_KERNEL);
	bool right;

	fill(memory, 3);
	right = copies(memory, address);
	devres_close_group(dev, group);
	if (!is_released)
		dmam_free_coherent(dev, PAGE_SIZE, memory, address);
	devres_release_group(dev, group);
	tell(way, right, address);
}

static void try_single(void *memory)
{
	dma_addr_t address = dma_map_single(dev, memory, PAGE_SIZE, DMA_TO_DEVICE);
	bool right = copies(memory, address);

	dma_unmap_single(dev, address, PAGE_SIZE, DMA_TO_DEVICE);
	tell("single", right, address);
}

static void make_list(struct scatterlist *list, u8 *memory)
{
	u32 i;

	sg_init_table(list, PIECES);
	for (i = 0; i < PIECES; i++)
		sg_set_buf(&list[i], memory + i * PAGE_SIZE, PAGE_SIZE);
}

static bool copies_each(struct scatterlist *list, u32 count)
{
	struct scatterlist *one;
	bool right = true;
	u32 i;

	for_each_sg(list, one, count, i) right &=
		copies(sg_virt(one), sg_dma_address(one));
	return right;
}

static void try_sg(u8 *memory)
{
	struct scatterlist list[PIECES];
	dma_addr_t last;
	bool right;
	int count;

	make_list(list, memory);
	count = dma_map_sg(dev, list, PIECES, DMA_TO_DEVICE);
	right = count == PIECES && copies_each(list, count);
	last = sg_dma_address(&list[PIECES - 1]);
	dma_unmap_sg(dev, list, PIECES, DMA_TO_DEVICE);
	tell("sg", right, last);
}

static void try_sgtable(u8 *memory)
{
	struct scatterlist list[PIECES];
	struct sg_table table = { .sgl = list, .nents = PIECES, .orig_nents = PIECES };
	dma_addr_t last;
	bool right;

	make_list(list, memory);
	right = !dma_map_sgtable(dev, &table, DMA_TO_DEVICE, 0) &&
		copies_each(list, table.nents);
	last = sg_dma_address(&list[PIECES - 1]);
	dma_unmap_sgtable(dev, &table, DMA_TO_DEVICE, 0);
	tell("sgtable", right, last);
}

static void try_all(u8 *memory)
{
	u32 i;

	for (i = 0; i < PIECES; i++)
		fill(memory + i * PAGE_SIZE, 3 + i);
	try_pages();
	try_pool();
	try_managed("managed", false);
	try_managed("released", true);
	try_single(memory);
	try_sg(memory);
	try_sgtable(memory);
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);
	u8 *memory;

	if (ret)
		return ret;
	dev = &pdev->dev;
	pci_set_master(pdev);
	registers = pcim_iomap(pdev, COPIER_BAR_CONTROL, 0);
	copy = dmam_alloc_coherent(dev, PAGE_SIZE, &copy_address, GFP_KERNEL);
	memory = kmalloc(ALL, GFP_KERNEL);
	if (!registers || !copy || !memory)
		ret = -ENOMEM;
	else
		try_all(memory);
	kfree(memory);
	return ret;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(COPIER_VENDOR_ID, COPIER_DEVICE_ID) },
	{},
};

static struct pci_driver dma_kinds = {
	.name = "dma_kinds",
	.id_table = ids,
	.probe = probe,
};
module_pci_driver(dma_kinds);
MODULE_DESCRIPTION("Memory for a copier in each way that drivers have");
MODULE_LICENSE("GPL");
