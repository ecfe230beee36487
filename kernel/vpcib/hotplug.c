// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of the bus for the kernel's PCI hotplug core, as /sys/bus/pci/slots/vpcibSLOT:
 *
 *	power    write 0 to switch the slot off: the drivers of its card are removed in order, while the
 *	         card still answers; write 1 to switch it on again, with such a card
 *	adapter  1 while there is a card in the slot, also if the slot is off
 *
 * A reset of the slot (a driver's pci_reset_bus, or "bus" in a card's reset_method) sets all functions
 * of the card to their state after power-on.  The PCI core calls reset_slot with the devices locked,
 * also in a driver's probe, so reset_slot takes no lock but the card's.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pci.h>
#include <linux/pci_hotplug.h>

#include "card.h"

#define NAME_BYTES 16

static struct hotplug_slot hotplug_slots[SLOTS];

static u32 slot_of(const struct hotplug_slot *hotplug)
{
	return hotplug - hotplug_slots;
}

static int enable_slot(struct hotplug_slot *hotplug)
{
	return slots_switch_on(slot_of(hotplug));
}

static int disable_slot(struct hotplug_slot *hotplug)
{
	return slots_switch_off(slot_of(hotplug));
}

static int get_power_status(struct hotplug_slot *hotplug, u8 *value)
{
	*value = rcu_access_pointer(cards[slot_of(hotplug)]) != NULL;
	return 0;
}

static int get_adapter_status(struct hotplug_slot *hotplug, u8 *value)
{
	u32 slot = slot_of(hotplug);

	*value = rcu_access_pointer(cards[slot]) || slots_is_off(slot);
	return 0;
}

static int reset_slot(struct hotplug_slot *hotplug, bool probe)
{
	struct vpcib_card *card;
	unsigned long flags;
	u32 number;

	if (probe)
		return 0;
	rcu_read_lock();
	for (number = slot_of(hotplug); number < CARDS; number += SLOTS) {
		card = card_in(number);
		if (!card)
			continue;
		flags = vpcib_lock(card);
		if (!card->gone) {
			journal_note(card,
				     (struct vpcib_access){ .what = VPCIB_RESET,
							    .context = VPCIB_KERNEL });
			power_reset_function(card);
			interrupt_update(card);
		}
		vpcib_unlock(card, flags);
	}
	rcu_read_unlock();
	return 0;
}

static const struct hotplug_slot_ops operations = {
	.enable_slot = enable_slot,
	.disable_slot = disable_slot,
	.get_power_status = get_power_status,
	.get_adapter_status = get_adapter_status,
	.reset_slot = reset_slot,
};

static void deregister(u32 count)
{
	while (count--)
		pci_hp_deregister(&hotplug_slots[count]);
}

int hotplug_init(struct pci_bus *bus)
{
	char name[NAME_BYTES];
	u32 slot;

	for (slot = 0; slot < SLOTS; slot++) {
		int ret;

		snprintf(name, sizeof(name), "vpcib%u", slot);
		hotplug_slots[slot] = (struct hotplug_slot){ .ops = &operations };
		ret = pci_hp_register(&hotplug_slots[slot], bus, slot, name);
		if (ret) {
			pr_err("slot %u can't be registered for hotplug\n", slot);
			deregister(slot);
			return ret;
		}
	}
	return 0;
}

void hotplug_exit(void)
{
	deregister(SLOTS);
}
