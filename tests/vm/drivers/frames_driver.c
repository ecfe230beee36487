// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the card rtl8139cp wrong descriptors to send, one frame after the other, and prints the
 * events that the card reports for each.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "rtl8139cp_registers.h"

#define OWN 0x80000000u
#define END 0x40000000u
#define FIRST 0x20000000u
#define LAST 0x10000000u
#define NOWHERE 0x123456000ull
#define DATA_BYTES 65536

struct entry {
	__le32 word;
	__le32 tag;
	__le64 address;
};

static void __iomem *registers;
static struct entry *ring;
static dma_addr_t data_at;

static void set(u32 index, u32 word, u64 address)
{
	ring[index].address = cpu_to_le64(address);
	wmb();
	ring[index].word = cpu_to_le32(word);
}

/* Sends the ring from its beginning. */
static void send(const char *name, u64 ring_at)
{
	u32 tries = 1000;

	writew(0xffff, registers + RTL8139CP_ISR);
	writel(lower_32_bits(ring_at), registers + RTL8139CP_TNPDS);
	writel(upper_32_bits(ring_at), registers + RTL8139CP_TNPDS + 4);
	writeb(RTL8139CP_TPPOLL_NPQ_MASK, registers + RTL8139CP_TPPOLL);
	while (--tries && !(readw(registers + RTL8139CP_ISR) & RTL8139CP_ISR_TDU_MASK))
		msleep(1);
	pr_info("frames: %s %#x\n", name, readw(registers + RTL8139CP_ISR));
	memset(ring, 0, PAGE_SIZE);
}

static void try_frames(u64 ring_at)
{
	u32 i;

	set(0, OWN | FIRST | LAST | 60, data_at);
	send("right", ring_at);
	set(0, OWN | LAST | 60, data_at);
	send("no-first", ring_at);
	set(0, OWN | FIRST | 60, data_at);
	send("no-last", ring_at);
	for (i = 0; i < 3; i++)
		set(i, OWN | (i ? 0 : FIRST) | (i == 2 ? LAST : 0) | 65535, data_at);
	send("too-long", ring_at);
	for (i = 0; i < 64; i++)
		set(i, OWN | (i == 63 ? END : 0) | 60, data_at);
	send("endless", ring_at);
	set(0, OWN | FIRST | LAST | 60, NOWHERE);
	send("nowhere", ring_at);
	send("no-ring", NOWHERE);
	set(0, OWN | FIRST | LAST, data_at);
	send("empty", ring_at);
	set(0, OWN | FIRST | LAST | 0x080f0000 | 60, data_at);
	send("large-not-tcp", ring_at);
	set(0, OWN | FIRST | LAST | 60, data_at);
	send("after", ring_at);
}

static int probe_card(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret = pcim_enable_device(pdev);
	dma_addr_t ring_at;

	if (ret)
		return ret;
	registers = pcim_iomap(pdev, 1, 0);
	pci_set_master(pdev);
	ring = dmam_alloc_coherent(&pdev->dev, PAGE_SIZE, &ring_at, GFP_KERNEL);
	if (!registers || !ring ||
	    !dmam_alloc_coherent(&pdev->dev, DATA_BYTES, &data_at, GFP_KERNEL))
		return -ENOMEM;
	writew(RTL8139CP_CPCR_CPTX_MASK, registers + RTL8139CP_CPCR);
	writeb(RTL8139CP_CR_TE_MASK, registers + RTL8139CP_CR);
	try_frames(ring_at);
	writeb(0, registers + RTL8139CP_CR);
	return 0;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(RTL8139CP_VENDOR_ID, RTL8139CP_DEVICE_ID) },
	{},
};

static struct pci_driver frames_driver = {
	.name = "frames",
	.id_table = ids,
	.probe = probe_card,
};
module_pci_driver(frames_driver);
MODULE_DESCRIPTION("Wrong descriptors of frames");
MODULE_LICENSE("GPL");
