// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out which card a module drives.  The functions may be called in any context.
 */
#include <linux/module.h>

#include "card.h"

/* Returns the module of the card's driver, or NULL. */
static struct module *module_of(const struct vpcib_card *card)
{
	const struct device_driver *driver =
		card && card->pdev ? READ_ONCE(card->pdev->dev.driver) : NULL;

	return driver ? driver->owner : NULL;
}

/* Returns whether the module drives a card, and stores the card's slot. */
bool driver_is(const struct module *module, u32 *slot)
{
	bool is = false;

	rcu_read_lock();
	for (*slot = 0; *slot < SLOTS; (*slot)++) {
		is = module && module_of(card_in(*slot)) == module;
		if (is)
			break;
	}
	rcu_read_unlock();
	return is;
}

/* Returns whether the code at this address belongs to a card's driver, and stores the slot. */
bool driver_has_code(unsigned long ip, u32 *slot)
{
	bool is = false;

	rcu_read_lock();
	for (*slot = 0; *slot < SLOTS; (*slot)++) {
		struct module *module = module_of(card_in(*slot));

		is = module && within_module(ip, module);
		if (is)
			break;
	}
	rcu_read_unlock();
	return is;
}
