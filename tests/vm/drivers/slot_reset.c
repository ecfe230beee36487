// SPDX-License-Identifier: GPL-2.0
/*
 * Resets a slot as a driver does, by pci_reset_bus for one of the two functions of a card rtl8139cp.
 * It prints a register of each function before and after it: "reset: BEFORE BEFORE AFTER AFTER", and
 * whether memory decoding is on again.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "rtl8139cp_registers.h"

#define DOMAIN 0x10000
#define FUNCTIONS 2

static int __init begin(void)
{
	void __iomem *registers[FUNCTIONS] = {};
	struct pci_dev *pdev[FUNCTIONS] = {};
	u32 before[FUNCTIONS], i;
	int ret = -ENODEV;

	for (i = 0; i < FUNCTIONS; i++) {
		pdev[i] = pci_get_domain_bus_and_slot(DOMAIN, 0, PCI_DEVFN(0, i));
		ret = pdev[i] ? pci_enable_device(pdev[i]) : -ENODEV;
		if (ret)
			goto put;
		registers[i] = pci_iomap(pdev[i], RTL8139CP_BAR_REGISTERS, 0);
		writel(0x1234 + i, registers[i] + RTL8139CP_MAR0);
		before[i] = readl(registers[i] + RTL8139CP_MAR0);
	}
	ret = pci_reset_bus(pdev[1]);
	pr_info("reset: %#x %#x %#x %#x\n", before[0], before[1],
		readl(registers[0] + RTL8139CP_MAR0),
		readl(registers[1] + RTL8139CP_MAR0));
put:
	for (i = 0; i < FUNCTIONS && pdev[i]; i++) {
		if (registers[i]) {
			pci_iounmap(pdev[i], registers[i]);
			pci_disable_device(pdev[i]);
		}
		pci_dev_put(pdev[i]);
	}
	return ret;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
