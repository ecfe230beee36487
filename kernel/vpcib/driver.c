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
		card->pdev ? READ_ONCE(card->pdev->dev.driver) : NULL;

	return driver ? driver->owner : NULL;
}

/* Returns whether the module drives a card, and stores the card's number. */
bool driver_is(const struct module *module, u32 *number)
{
	struct vpcib_card *card;
	bool is = false;

	rcu_read_lock();
	for_each_card (card, *number) {
		is = module && module_of(card) == module;
		if (is)
			break;
	}
	rcu_read_unlock();
	return is;
}

/* Returns whether the code at this address belongs to a card's driver, and stores its number. */
bool driver_has_code(unsigned long ip, u32 *number)
{
	struct vpcib_card *card;
	bool is = false;

	rcu_read_lock();
	for_each_card (card, *number) {
		struct module *module = module_of(card);

		is = module && within_module(ip, module);
		if (is)
			break;
	}
	rcu_read_unlock();
	return is;
}
