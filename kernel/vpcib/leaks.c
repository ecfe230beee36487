// SPDX-License-Identifier: GPL-2.0
/*
 * Reports what a driver has not released when its module is unloaded: regions and mappings of BARs,
 * interrupt handlers and vectors, and the card, which it has enabled.
 *
 * Until then a driver may keep them, since an open file of a removed card may still use them.
 */
#include <linux/module.h>

#include "card.h"

static void check_regions(struct vpcib_card *card, const struct pci_dev *pdev)
{
	u32 i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		const struct resource *region = pdev->resource[i].child;

		if (region)
			misuse_note(card->number,
				    (struct vpcib_access){ .value = VPCIB_KEEPS_REGION,
							   .context = VPCIB_KERNEL,
							   .bar = i },
				    "BAR %u is still requested by \"%s\"", i,
				    region->name ?: "");
	}
}

static void check_enabled(struct vpcib_card *card, struct pci_dev *pdev)
{
	if (pci_is_enabled(pdev))
		misuse_note(card->number,
			    (struct vpcib_access){ .value = VPCIB_KEEPS_ENABLED,
						   .context = VPCIB_KERNEL },
			    "nobody has called pci_disable_device");
}

static void check(struct vpcib_card *card)
{
	struct pci_dev *pdev;

	rcu_read_lock(); /* for pdev */
	pdev = READ_ONCE(card->pdev);
	if (pdev && !pdev->dev.driver) {
		check_regions(card, pdev);
		check_enabled(card, pdev);
		irqs_check(card);
	}
	rcu_read_unlock();
}

/* Called after the module's exit function, or after its init function has failed. */
static int module_changes(struct notifier_block *block, unsigned long state, void *data)
{
	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	slots_each(check);
	mapping_check();
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

int leaks_init(void)
{
	return register_module_notifier(&module_notifier);
}

void leaks_exit(void)
{
	unregister_module_notifier(&module_notifier);
}
