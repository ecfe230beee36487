// SPDX-License-Identifier: GPL-2.0
/*
 * The capabilities of power management (PCI Power Management 1.2: D0 and D3hot) and of PCI Express
 * (an endpoint of the root complex), and the resets that they bring.
 *
 * A card in D3hot reacts only to its configuration space: loads of registers return ones, stores are
 * lost, and it neither transfers nor interrupts.  A BAR without registers is memory, which does not
 * sleep.  If the card does not keep its registers, it is reset when it wakes.  A function-level reset
 * is a driver's write to the PCI Express capability.  A reset also clears the BARs, which the kernel
 * restores.  The reset of a slot (hotplug.c) is the same for all functions of its card.
 *
 * All functions are called under the card's lock.
 */
#include "card.h"

#define PM 0x70
#define PM_CONTROL (PM + PCI_PM_CTRL)
#define EXPRESS 0x80
#define EXPRESS_CONTROL (EXPRESS + PCI_EXP_DEVCTL)
#define VERSION_OF_PM 3
#define VERSION_OF_EXPRESS 2

/* Adds the capabilities to the chain, in their state after a reset. */
void power_reset(struct vpcib_card *card)
{
	const struct vpcib_kind *kind = card->kind;

	if (kind->has_pm) {
		config_put(card, PM, PCI_CAP_ID_PM, 1);
		config_put(card, PM + PCI_PM_PMC, VERSION_OF_PM, 2);
		config_put(card, PM_CONTROL,
			   kind->keeps_registers ? PCI_PM_CTRL_NO_SOFT_RESET : 0, 2);
		config_chain(card, PM);
	}
	if (kind->is_express) {
		config_put(card, EXPRESS, PCI_CAP_ID_EXP, 1);
		config_put(card, EXPRESS + PCI_EXP_FLAGS,
			   PCI_EXP_TYPE_RC_END << 4 | VERSION_OF_EXPRESS, 2);
		config_put(card, EXPRESS + PCI_EXP_DEVCAP,
			   PCI_EXP_DEVCAP_RBER |
				   (kind->has_flr ? PCI_EXP_DEVCAP_FLR : 0),
			   4);
		config_chain(card, EXPRESS);
	}
}

/* Returns the bits that a driver can change in the word at offset `where`. */
u32 power_writable(const struct vpcib_card *card, u32 where)
{
	if (where == EXPRESS_CONTROL && card->kind->is_express)
		return 0xffff & ~PCI_EXP_DEVCTL_BCR_FLR;
	return 0;
}

bool power_is_on(const struct vpcib_card *card)
{
	u32 state = config_get(card, PM_CONTROL, 2) & PCI_PM_CTRL_STATE_MASK;

	return !card->kind->has_pm || state == (__force u32)PCI_D0;
}

/* Sets a function to its state after power-on, without the addresses of its BARs. */
void power_reset_function(struct vpcib_card *card)
{
	config_reset(card);
	memset(card->config + PCI_BASE_ADDRESS_0, 0, 4 * VPCIB_BARS);
	config_mark_bars(card);
	card->pending = 0;
	card->broken = false;
	if (card->kind->reset)
		card->kind->reset(card);
}

/* A write of a state that the card does not have changes nothing. */
static void set_state(struct vpcib_card *card, u32 state)
{
	u32 control = config_get(card, PM_CONTROL, 2);
	bool wakes = !power_is_on(card) && state == (__force u32)PCI_D0;

	if (state != (__force u32)PCI_D0 && state != (__force u32)PCI_D3hot)
		return;
	config_put(card, PM_CONTROL, (control & ~PCI_PM_CTRL_STATE_MASK) | state, 2);
	if (wakes && !card->kind->keeps_registers)
		power_reset_function(card);
}

/* Acts on a driver's write to the configuration space; `lanes` are the bits that it writes. */
void power_written(struct vpcib_card *card, u32 where, u32 value, u32 lanes)
{
	if (where == PM_CONTROL && card->kind->has_pm && lanes & PCI_PM_CTRL_STATE_MASK)
		set_state(card, value & PCI_PM_CTRL_STATE_MASK);
	if (where == EXPRESS_CONTROL && card->kind->has_flr &&
	    value & lanes & PCI_EXP_DEVCTL_BCR_FLR)
		power_reset_function(card);
}
