// SPDX-License-Identifier: GPL-2.0
/*
 * Plugs cards into the slots of the bus, and removes them.  Each card is of a registered kind, and
 * has as many functions, each of which is a struct vpcib_card.
 *
 * A card's BARs have addresses as soon as the card is plugged in, as if firmware had assigned the
 * addresses.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "card.h"

#define BAR_LEAST 16
#define PORTS_LEAST 4
#define PORTS_MOST 256

static DEFINE_MUTEX(slots_lock);
static LIST_HEAD(kinds);
static struct vpcib_kind
	*switched_off[SLOTS]; /* kind of the card in a slot that is off */

/* --- plugging in and pulling out ---------------------------------------------------- */

static void card_free(struct vpcib_card *card)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		memory_put(card->memory[i]);
		if (card->address[i].parent)
			release_resource(&card->address[i]);
	}
	kfree(card);
}

/* Returns the end of a BAR of a card on the bus that overlaps a range, or 0 if there is none. */
static resource_size_t taken_until(const struct resource *range)
{
	resource_size_t end = 0;
	struct vpcib_card *card;
	u32 number, i;

	rcu_read_lock();
	for_each_card (card, number) {
		for (i = 0; i < VPCIB_BARS; i++) {
			const struct resource *taken = &card->address[i];

			if (taken->flags & range->flags &&
			    resource_overlaps((struct resource *)taken,
					      (struct resource *)range))
				end = taken->end;
		}
	}
	rcu_read_unlock();
	return end;
}

/*
 * Returns where a BAR can begin in a free range of the window.  The addresses of a card whose device
 * somebody has removed are free for the PCI core, and still the card's.
 */
static resource_size_t past_others(void *data, const struct resource *free,
				   resource_size_t bytes, resource_size_t apart)
{
	const struct resource *bar = data;
	struct resource at = { .start = free->start, .flags = bar->flags };
	resource_size_t end;

	for (;;) {
		at.end = at.start + bytes - 1;
		end = taken_until(&at);
		if (!end)
			return at.start;
		at.start = ALIGN(end + 1, apart);
	}
}

/*
 * Reserves addresses for a BAR, which begins in a page of its own, so that a process can map it
 * without the next card's.  The reservation ends when the PCI core claims the addresses.
 */
static int place_bar(struct vpcib_card *card, u32 i)
{
	const struct vpcib_bar *bar = &card->kind->bars[i];
	struct resource *window = bar->is_io ? bridge_ports() : bridge_window();
	u64 apart = bar->is_io ? bar->bytes : max_t(u64, bar->bytes, PAGE_SIZE);
	int ret;

	if (!bar->bytes)
		return 0;
	card->address[i].name = card->kind->name;
	card->address[i].flags = bar->is_io ? IORESOURCE_IO : IORESOURCE_MEM;
	ret = allocate_resource(window, &card->address[i], bar->bytes, window->start,
				window->end, apart, past_others, &card->address[i]);
	if (ret || !bar->is_memory)
		return ret;
	card->memory[i] = memory_alloc(bar->bytes);
	return card->memory[i] ? 0 : -ENOMEM;
}

static void hand_over_bars(struct vpcib_card *card)
{
	u32 i;

	for (i = 0; i < VPCIB_BARS; i++) {
		if (card->address[i].parent)
			release_resource(&card->address[i]);
	}
}

static struct vpcib_card *card_alloc(struct vpcib_kind *kind)
{
	struct vpcib_card *card =
		kzalloc(struct_size(card, state, DIV_ROUND_UP(kind->state_bytes, 8)),
			GFP_KERNEL);
	int ret = 0;
	u32 i;

	if (!card)
		return ERR_PTR(-ENOMEM);
	card->kind = kind;
	raw_spin_lock_init(&card->lock);
	raw_spin_lock_init(&card->dma_lock);
	INIT_LIST_HEAD(&card->dma);
	aer_add(card);
	for (i = 0; i < VPCIB_BARS && !ret; i++)
		ret = place_bar(card, i);
	if (ret) {
		card_free(card);
		return ERR_PTR(ret);
	}
	config_reset(card);
	return card;
}

/*
 * Prepares the device for the PCI core.  The virtual bus routes INTA itself, so the PCI core must
 * not ask the firmware about the INTA pin.
 */
static void prepare(struct vpcib_card *card, struct pci_dev *pdev)
{
	u32 i;

	pdev->pin = 0;
	pdev->irq = card->line_irq;
	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (pdev->resource[i].flags && pci_claim_resource(pdev, i))
			pci_warn(pdev, "BAR %u is not where it was put\n", i);
	}
}

/* Under slots_lock. */
static struct vpcib_card *plugged_into(u32 number)
{
	return rcu_dereference_protected(cards[number], lockdep_is_held(&slots_lock));
}

/* Goes through the functions of the card in a slot.  Under slots_lock. */
#define for_each_function(card, number, slot)                        \
	for ((number) = (slot); (number) < CARDS; (number) += SLOTS) \
		if (((card) = plugged_into(number)))

/*
 * Takes over a device that the PCI core has found: when its card is plugged in, and again when
 * somebody has removed the device and has the bus scanned for it.
 */
void slots_take_over(struct pci_dev *pdev)
{
	struct pci_dev *old = NULL;
	struct vpcib_card *card;

	rcu_read_lock();
	card = card_of(&pdev->dev);
	if (card) {
		old = card->pdev;
		pci_write_config_byte(pdev, PCI_INTERRUPT_LINE, card->line_irq);
		prepare(card, pdev);
		WRITE_ONCE(card->pdev, pci_dev_get(pdev));
	}
	rcu_read_unlock();
	if (old) {
		synchronize_rcu();
		pci_dev_put(old);
	}
}

static int announce(struct vpcib_card *card)
{
	if (!card->pdev)
		return -ENODEV;
	journal_note(card, (struct vpcib_access){ .what = VPCIB_ADDED,
						  .context = VPCIB_CARD });
	return 0;
}

static int discover(u32 slot)
{
	struct vpcib_card *card;
	u32 number;
	int ret = 0;

	pci_lock_rescan_remove();
	for_each_function (card, number, slot)
		hand_over_bars(card);
	pci_scan_slot(bridge_bus(), PCI_DEVFN(slot, 0));
	for_each_function (card, number, slot)
		ret = ret ?: announce(card);
	if (!ret)
		pci_bus_add_devices(bridge_bus());
	pci_unlock_rescan_remove();
	return ret;
}

static int free_slot(void)
{
	int slot;

	for (slot = 0; slot < SLOTS; slot++) {
		if (!rcu_access_pointer(cards[slot]) && !switched_off[slot])
			return slot;
	}
	return -ENOSPC;
}

/* Lets a function no longer answer. */
static void silence(struct vpcib_card *card)
{
	unsigned long flags = vpcib_lock(card);

	card->gone = true;
	card->asserted = 0;
	vpcib_unlock(card, flags);
	journal_note(card, (struct vpcib_access){ .what = VPCIB_REMOVED,
						  .context = VPCIB_CARD });
}

static void remove_device(struct vpcib_card *card)
{
	struct pci_dev *pdev;

	pci_lock_rescan_remove();
	pdev = pci_get_slot(bridge_bus(), card_devfn(card));
	if (pdev)
		pci_stop_and_remove_bus_device(pdev);
	pci_dev_put(pdev);
	pci_unlock_rescan_remove();
}

static void forget(struct vpcib_card *card)
{
	__clear_bit(card->number, card_numbers);
	rcu_assign_pointer(cards[card->number], NULL);
	synchronize_rcu();
	aer_remove(card);
	pci_dev_put(card->pdev);
	if (card->kind->stop)
		card->kind->stop(card);
	interrupt_remove(card); /* after this, nothing can raise an interrupt */
	dma_forget(card);
	card_free(card);
}

/*
 * Calls a function for each function of the card in a slot, the first one last: the others exist only
 * with it.
 */
static void for_last_to_first(u32 slot, void (*act)(struct vpcib_card *card))
{
	u32 number = slot + CARDS;

	while (number > slot) {
		number -= SLOTS;
		if (plugged_into(number))
			act(plugged_into(number));
	}
}

/* Removes a card, whatever its drivers are doing. */
static void pull_out(u32 slot)
{
	for_last_to_first(slot, silence);
	for_last_to_first(slot, remove_device);
	for_last_to_first(slot, forget);
}

/* Removes a card that answers until its drivers are removed. */
static void take_out(u32 slot)
{
	for_last_to_first(slot, remove_device);
	pull_out(slot);
}

static int start(struct vpcib_card *card)
{
	int ret = interrupt_add(card);

	if (ret)
		return ret;
	ret = card->kind->start ? card->kind->start(card) : 0;
	if (ret)
		interrupt_remove(card);
	return ret;
}

static int add_function(struct vpcib_kind *kind, u32 number)
{
	struct vpcib_card *card = card_alloc(kind);
	int ret;

	if (IS_ERR(card))
		return PTR_ERR(card);
	card->number = number;
	ret = start(card);
	if (ret) {
		card_free(card);
		return ret;
	}
	rcu_assign_pointer(cards[number], card);
	__set_bit(number, card_numbers);
	return 0;
}

static int plug_in(struct vpcib_kind *kind, u32 slot)
{
	u32 function;
	int ret = 0;

	for (function = 0; function < kind->functions && !ret; function++)
		ret = add_function(kind, slot + SLOTS * function);
	ret = ret ?: discover(slot);
	if (ret)
		pull_out(slot);
	return ret ?: slot;
}

/* Under slots_lock. */
static int add(struct vpcib_kind *kind)
{
	int slot = free_slot();

	return slot < 0 ? slot : plug_in(kind, slot);
}

int vpcib_add(struct vpcib_kind *kind)
{
	int ret;

	mutex_lock(&slots_lock);
	ret = add(kind);
	mutex_unlock(&slots_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(vpcib_add);

int vpcib_remove(u32 slot)
{
	bool is_there;

	if (slot >= SLOTS)
		return -ENODEV;
	mutex_lock(&slots_lock);
	is_there = plugged_into(slot) || switched_off[slot];
	pull_out(slot);
	WRITE_ONCE(switched_off[slot], NULL);
	mutex_unlock(&slots_lock);
	return is_there ? 0 : -ENODEV;
}
EXPORT_SYMBOL_GPL(vpcib_remove);

/* Returns 0 also if the slot is on, or -ENODEV if it is empty. */
int slots_switch_on(u32 slot)
{
	int ret = 0;

	mutex_lock(&slots_lock);
	if (switched_off[slot])
		ret = plug_in(switched_off[slot], slot);
	else if (!plugged_into(slot))
		ret = -ENODEV;
	if (ret >= 0)
		WRITE_ONCE(switched_off[slot], NULL);
	mutex_unlock(&slots_lock);
	return min(ret, 0);
}

/* Returns 0 also if the slot is off, or -ENODEV if it is empty. */
int slots_switch_off(u32 slot)
{
	struct vpcib_card *card;
	int ret = 0;

	mutex_lock(&slots_lock);
	card = plugged_into(slot);
	if (card) {
		WRITE_ONCE(switched_off[slot], card->kind);
		take_out(slot);
	} else if (!switched_off[slot]) {
		ret = -ENODEV;
	}
	mutex_unlock(&slots_lock);
	return ret;
}

/* Returns whether there is a card in the slot, which is off. */
bool slots_is_off(u32 slot)
{
	return READ_ONCE(switched_off[slot]);
}

/*
 * Calls a function for each card that is plugged in, and each of its functions, while no card is
 * plugged in or pulled out.
 */
void slots_each(void (*check)(struct vpcib_card *card))
{
	u32 number;

	mutex_lock(&slots_lock);
	for_each_set_bit(number, card_numbers, CARDS) check(plugged_into(number));
	mutex_unlock(&slots_lock);
}

/* --- kinds -------------------------------------------------------------------------- */

static struct vpcib_kind *kind_named(const char *name)
{
	struct vpcib_kind *kind;

	list_for_each_entry (kind, &kinds, list) {
		if (!strcmp(kind->name, name))
			return kind;
	}
	return NULL;
}

int slots_add(const char *name)
{
	struct vpcib_kind *kind;
	int ret = -ENOENT;

	mutex_lock(&slots_lock);
	kind = kind_named(name);
	if (kind)
		ret = add(kind);
	mutex_unlock(&slots_lock);
	return ret;
}

static bool is_size(const struct vpcib_bar *bar)
{
	u64 least = bar->is_io ? PORTS_LEAST : BAR_LEAST;
	u64 most = bar->is_io ? PORTS_MOST : WINDOW_MOST;

	return is_power_of_2(bar->bytes) && bar->bytes >= least && bar->bytes <= most;
}

/* The table and the pending bits are inside their BAR, each at a multiple of 8. */
static bool has_place_for_msix(const struct vpcib_kind *kind)
{
	u64 bytes = kind->bars[kind->msix_bar].bytes;

	return !(kind->msix_table % 8) && !(kind->msix_pending % 8) &&
	       kind->msix_table + 16ull * kind->msix_vectors <= bytes &&
	       kind->msix_pending + 8ull <= bytes;
}

static bool can_be(const struct vpcib_kind *kind)
{
	u32 i;

	if (!kind->functions || kind->functions > VPCIB_FUNCTIONS_MAX)
		return false;
	if (kind->msi_vectors && (!is_power_of_2(kind->msi_vectors) ||
				  kind->msi_vectors > VPCIB_MSI_VECTORS_MAX))
		return false;
	if (kind->msix_vectors > VPCIB_VECTORS_MAX || kind->msix_bar >= VPCIB_BARS ||
	    (kind->msix_vectors && !has_place_for_msix(kind)) || !vendor_fits(kind))
		return false;
	for (i = 0; i < VPCIB_BARS; i++) {
		const struct vpcib_bar *bar = &kind->bars[i];

		if (!bar->bytes)
			continue;
		if (!is_size(bar))
			return false;
		if (bar->is_io && (bar->is64 || bar->is_memory))
			return false;
		if (bar->is64 && (i + 1 == VPCIB_BARS || kind->bars[i + 1].bytes))
			return false;
	}
	return true;
}

int vpcib_register(struct vpcib_kind *kind)
{
	int ret = 0;

	if (!can_be(kind))
		return -EINVAL;
	mutex_lock(&slots_lock);
	if (kind_named(kind->name))
		ret = -EEXIST;
	else
		list_add_tail(&kind->list, &kinds);
	mutex_unlock(&slots_lock);
	if (!ret && kind_has_ports(kind))
		ports_watch();
	return ret;
}
EXPORT_SYMBOL_GPL(vpcib_register);

void vpcib_unregister(struct vpcib_kind *kind)
{
	u32 slot;

	mutex_lock(&slots_lock);
	list_del(&kind->list);
	for (slot = 0; slot < SLOTS; slot++) {
		if (plugged_into(slot) && plugged_into(slot)->kind == kind)
			pull_out(slot);
		if (switched_off[slot] == kind)
			WRITE_ONCE(switched_off[slot], NULL);
	}
	mutex_unlock(&slots_lock);
}
EXPORT_SYMBOL_GPL(vpcib_unregister);
