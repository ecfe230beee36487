// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the card nvme that sends commands with wrong data pointers, and prints each command's
 * status: "prp: NAME STATUS".  It polls, and has one queue for I/O.  The page that the card may use
 * lies between two pages that the card may not use; the driver prints whether these have changed.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/nvme.h>
#include <linux/pci.h>

#define ENTRIES 8
#define PAGE 4096u
#define LIST_PAGES 31 /* behind the first page of the greatest transfer */
#define SECTORS (64u << 20 >> 9) /* of the first namespace */
#define NOWHERE (1ull << 45)
#define GUARD 0xa5
#define POLLS 10000

struct queue {
	struct nvme_command *commands;
	volatile struct nvme_completion *completions;
	dma_addr_t commands_at;
	dma_addr_t completions_at;
	u32 number;
	u32 next;
};

struct probe {
	struct pci_dev *pdev;
	void __iomem *registers;
	struct queue admin;
	struct queue io;
	u8 *page;
	dma_addr_t page_at;
	__le64 *list;
	dma_addr_t list_at;
	u8 *guarded; /* three pages, of which the card may use the second one */
	dma_addr_t guarded_at;
};

static int wait_for(struct probe *probe, u32 bits)
{
	u32 i;

	for (i = 0; i < POLLS; i++) {
		if ((readl(probe->registers + NVME_REG_CSTS) & 3) == bits)
			return 0;
		usleep_range(50, 200);
	}
	return -ETIMEDOUT;
}

static void ring(struct probe *probe, u32 doorbell, u32 value)
{
	writel(value, probe->registers + NVME_REG_DBS + 4 * doorbell);
}

/* Returns the command's status, or -1 if there is no completion. */
static int run(struct probe *probe, struct queue *queue, struct nvme_command command)
{
	volatile struct nvme_completion *entry =
		&queue->completions[queue->next % ENTRIES];
	u32 phase = ~(queue->next / ENTRIES) & 1, i;

	command.common.command_id = queue->next;
	queue->commands[queue->next++ % ENTRIES] = command;
	ring(probe, 2 * queue->number, queue->next % ENTRIES);
	for (i = 0; i < POLLS; i++) {
		u16 status = le16_to_cpu(entry->status);

		if ((status & 1) == phase) {
			ring(probe, 2 * queue->number + 1, queue->next % ENTRIES);
			return status >> 1;
		}
		if (readl(probe->registers + NVME_REG_CSTS) & NVME_CSTS_CFS)
			break;
		usleep_range(50, 200);
	}
	return -1;
}

static struct nvme_command access(u8 opcode, u64 sector, u32 sectors, u64 first,
				  u64 second)
{
	struct nvme_command command = {};

	command.rw.opcode = opcode;
	command.rw.nsid = cpu_to_le32(1);
	command.rw.slba = cpu_to_le64(sector);
	command.rw.length = cpu_to_le16(sectors - 1);
	command.rw.dptr.prp1 = cpu_to_le64(first);
	command.rw.dptr.prp2 = cpu_to_le64(second);
	return command;
}

static int create_cq(struct probe *probe, u64 at, u32 number)
{
	struct nvme_command command = {};

	command.create_cq.opcode = nvme_admin_create_cq;
	command.create_cq.prp1 = cpu_to_le64(at);
	command.create_cq.cqid = cpu_to_le16(number);
	command.create_cq.qsize = cpu_to_le16(ENTRIES - 1);
	command.create_cq.cq_flags = cpu_to_le16(NVME_QUEUE_PHYS_CONTIG);
	return run(probe, &probe->admin, command);
}

static void try(struct probe *probe, const char *name, struct nvme_command command)
{
	pr_info("prp: %s %#x\n", name, run(probe, &probe->io, command));
}

static void try_read(struct probe *probe, const char *name, u32 sectors, u64 first,
		     u64 second)
{
	try(probe, name, access(nvme_cmd_read, 0, sectors, first, second));
}

/* Fills the list with one address. */
static void fill_list(struct probe *probe, u64 address)
{
	u32 i;

	for (i = 0; i < PAGE / sizeof(*probe->list); i++)
		probe->list[i] = cpu_to_le64(address);
}

/* The first 8 sectors fill a page, and 256 are the greatest transfer. */
static void try_entries(struct probe *probe)
{
	u64 page = probe->page_at, list = probe->list_at;

	try_read(probe, "page", 8, page, 0);
	try_read(probe, "odd-first", 1, page + 2, 0);
	try_read(probe, "second-missing", 16, page, 0);
	try_read(probe, "second-misaligned", 16, page, page + 512);
	try_read(probe, "first-nowhere", 8, NOWHERE, 0);
	try_read(probe, "first-past-all", 8, ~0ull << 12, 0);
	try_read(probe, "guard", 8, probe->guarded_at - PAGE, 0);
	try_read(probe, "into-guard", 8, probe->guarded_at + 512,
		 probe->guarded_at + PAGE);
	try_read(probe, "list-nowhere", 256, page, NOWHERE);
	try_read(probe, "list-misaligned", 256, page, list + 4);
	fill_list(probe, page);
	try_read(probe, "list", 256, page, list);
	probe->list[LIST_PAGES - 1] = cpu_to_le64(page + 8);
	try_read(probe, "entry-misaligned", 256, page, list);
	probe->list[LIST_PAGES - 1] = cpu_to_le64(NOWHERE);
	try_read(probe, "entry-nowhere", 256, page, list);
	/* The list's last entry is the address of the list. */
	fill_list(probe, list);
	try_read(probe, "list-of-itself", 256, page, list + PAGE - 8);
	fill_list(probe, page);
	probe->list[PAGE / 8 - 1] = cpu_to_le64(list + 8);
	try_read(probe, "next-misaligned", 256, page, list + PAGE - 8);
}

static void try_commands(struct probe *probe)
{
	u64 page = probe->page_at;
	struct nvme_command command = access(nvme_cmd_read, 0, 8, page, 0);

	command.common.flags = NVME_CMD_SGL_METABUF;
	try(probe, "sgl", command);
	command.common.flags = NVME_CMD_FUSE_FIRST;
	try(probe, "fused", command);
	command.common.flags = 0;
	command.common.nsid = cpu_to_le32(3);
	try(probe, "namespace", command);
	try(probe, "last-sector", access(nvme_cmd_read, SECTORS - 1, 1, page, 0));
	try(probe, "past-end", access(nvme_cmd_read, SECTORS - 1, 2, page, 0));
	try(probe, "past-all", access(nvme_cmd_read, ~0ull, 2, page, 0));
	try_read(probe, "too-long", 257, page, probe->list_at);
	memset(probe->page, 1, PAGE);
	try(probe, "write", access(nvme_cmd_write, 0, 8, page, 0));
	try(probe, "write-nowhere", access(nvme_cmd_write, 0, 8, NOWHERE, 0));
	try_read(probe, "read", 8, page, 0);
	pr_info("prp: written %#x\n", !memchr_inv(probe->page, 1, PAGE));
	pr_info("prp: queue-misaligned %#x\n", create_cq(probe, page + 512, 2));
}

static void *room(struct probe *probe, size_t bytes, dma_addr_t *at)
{
	return dmam_alloc_coherent(&probe->pdev->dev, bytes, at, GFP_KERNEL);
}

static int alloc_queue(struct probe *probe, struct queue *queue)
{
	queue->commands = room(probe, PAGE, &queue->commands_at);
	queue->completions = room(probe, PAGE, &queue->completions_at);
	return queue->commands && queue->completions ? 0 : -ENOMEM;
}

static void empty(struct queue *queue, u32 number)
{
	memset(queue->commands, 0, PAGE);
	memset((void *)queue->completions, 0, PAGE);
	queue->next = 0;
	queue->number = number;
}

static int create_io(struct probe *probe)
{
	struct nvme_command command = {};
	int ret = create_cq(probe, probe->io.completions_at, 1);

	if (ret)
		return ret;
	command.create_sq.opcode = nvme_admin_create_sq;
	command.create_sq.prp1 = cpu_to_le64(probe->io.commands_at);
	command.create_sq.sqid = cpu_to_le16(1);
	command.create_sq.cqid = cpu_to_le16(1);
	command.create_sq.qsize = cpu_to_le16(ENTRIES - 1);
	command.create_sq.sq_flags = cpu_to_le16(NVME_QUEUE_PHYS_CONTIG);
	return run(probe, &probe->admin, command);
}

static int start(struct probe *probe)
{
	void __iomem *registers = probe->registers;

	empty(&probe->admin, 0);
	empty(&probe->io, 1);
	writel(0, registers + NVME_REG_CC);
	if (wait_for(probe, 0))
		return -ETIMEDOUT;
	writel((ENTRIES - 1) << 16 | (ENTRIES - 1), registers + NVME_REG_AQA);
	writeq(probe->admin.commands_at, registers + NVME_REG_ASQ);
	writeq(probe->admin.completions_at, registers + NVME_REG_ACQ);
	writel(NVME_CC_ENABLE | NVME_CC_IOSQES | NVME_CC_IOCQES,
	       registers + NVME_REG_CC);
	return wait_for(probe, NVME_CSTS_RDY);
}

/* The card can't read its commands: only a reset helps. */
static void try_fatal(struct probe *probe)
{
	writel(0, probe->registers + NVME_REG_CC);
	if (wait_for(probe, 0))
		return;
	writeq(NOWHERE, probe->registers + NVME_REG_ASQ);
	empty(&probe->admin, 0);
	writel(NVME_CC_ENABLE | NVME_CC_IOSQES | NVME_CC_IOCQES,
	       probe->registers + NVME_REG_CC);
	if (wait_for(probe, NVME_CSTS_RDY))
		return;
	ring(probe, 0, 1);
	pr_info("prp: fatal %#x\n", !wait_for(probe, NVME_CSTS_RDY | NVME_CSTS_CFS));
	if (!start(probe) && !create_io(probe))
		try_read(probe, "after-reset", 8, probe->page_at, 0);
}

static bool is_whole(const struct probe *probe)
{
	return !memchr_inv(probe->guarded, GUARD, PAGE) &&
	       !memchr_inv(probe->guarded + 2 * PAGE, GUARD, PAGE);
}

static int attack(struct probe *probe)
{
	struct device *dev = &probe->pdev->dev;

	memset(probe->guarded, GUARD, 3 * PAGE);
	probe->guarded_at =
		dma_map_single(dev, probe->guarded + PAGE, PAGE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, probe->guarded_at))
		return -ENOMEM;
	try_entries(probe);
	try_commands(probe);
	dma_unmap_single(dev, probe->guarded_at, PAGE, DMA_BIDIRECTIONAL);
	try_read(probe, "unmapped", 8, probe->guarded_at, 0);
	ring(probe, 2, ENTRIES);
	try_read(probe, "after-doorbell", 8, probe->page_at, 0);
	try_fatal(probe);
	pr_info("prp: guards %#x\n", is_whole(probe));
	return 0;
}

static int probe_card(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct probe *probe = devm_kzalloc(&pdev->dev, sizeof(*probe), GFP_KERNEL);
	int ret = pcim_enable_device(pdev);

	if (!probe || ret)
		return ret ?: -ENOMEM;
	probe->pdev = pdev;
	probe->registers = pcim_iomap(pdev, 0, 0);
	pci_set_master(pdev);
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	probe->page = room(probe, PAGE, &probe->page_at);
	probe->list = room(probe, PAGE, &probe->list_at);
	if (ret || !probe->registers || !probe->page || !probe->list ||
	    alloc_queue(probe, &probe->admin) || alloc_queue(probe, &probe->io))
		return -ENOMEM;
	ret = start(probe);
	ret = ret ?: create_io(probe);
	probe->guarded = (void *)__get_free_pages(GFP_KERNEL, 2);
	if (!ret)
		ret = probe->guarded ? attack(probe) : -ENOMEM;
	if (probe->guarded)
		free_pages((unsigned long)probe->guarded, 2);
	writel(0, probe->registers + NVME_REG_CC);
	wait_for(probe, 0);
	return ret;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE_CLASS(PCI_CLASS_STORAGE_EXPRESS, 0xffffff) },
	{},
};

static struct pci_driver prp_driver = {
	.name = "prp",
	.id_table = ids,
	.probe = probe_card,
};
module_pci_driver(prp_driver);
MODULE_DESCRIPTION("Commands with wrong data pointers");
MODULE_LICENSE("GPL");
