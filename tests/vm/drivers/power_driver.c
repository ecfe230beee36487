// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of the card gaps (tests/gaps_card.py) with power management: it lets the card sleep, and
 * prints what it reads before, meanwhile and afterwards: "power: BEFORE MEANWHILE AFTER".  It then
 * leaves the card to the kernel's runtime power management, and a changed register behind.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include "gaps_registers.h"

static bool careful;
module_param(careful, bool, 0444);
MODULE_PARM_DESC(careful, "do not read while the card sleeps");

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	u32 before, meanwhile = 0;
	void __iomem *slot;
	int ret = pcim_enable_device(pdev);

	if (ret)
		return ret;
	slot = pcim_iomap(pdev, GAPS_BAR_LARGE, 0);
	if (!slot)
		return -ENOMEM;
	slot += GAPS_SLOT(1);
	writel(0x21, slot);
	before = readl(slot);
	pci_save_state(pdev);
	ret = pci_set_power_state(pdev, PCI_D3hot);
	if (!careful)
		meanwhile = readl(slot);
	ret = ret ?: pci_set_power_state(pdev, PCI_D0);
	pci_restore_state(pdev);
	pr_info("power: %#x %#x %#x\n", before, meanwhile, readl(slot));
	writel(0x77, slot);
	pm_runtime_allow(&pdev->dev);
	pm_runtime_put_noidle(&pdev->dev);
	return ret;
}

static void remove(struct pci_dev *pdev)
{
	pm_runtime_get_sync(&pdev->dev);
	pm_runtime_forbid(&pdev->dev);
}

static int nothing(struct device *dev)
{
	return 0;
}

static const struct dev_pm_ops operations = { RUNTIME_PM_OPS(nothing, nothing, NULL) };

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(GAPS_VENDOR_ID, GAPS_DEVICE_ID) },
	{},
};

static struct pci_driver power_driver = {
	.name = "power",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.driver.pm = &operations,
};
module_pci_driver(power_driver);
MODULE_DESCRIPTION("Lets the card gaps sleep");
MODULE_LICENSE("GPL");
