// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a list of the memory that a driver has given to its card, and carries out the card's reads
 * and writes.
 *
 * A card can access only memory in the list.  Any other access is refused, and nothing is read or
 * written.  The list stays locked while memory is copied, so the driver can't free the memory
 * meanwhile.
 */
#include <linux/dma-direct.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "card.h"

/* Memory that a card may access. */
struct given {
	struct list_head list;
	u64 address; /* bus address */
	size_t bytes;
	void *where; /* the kernel's address */
	u8 *before; /* contents at the beginning of a transfer (with "races"), or NULL */
	enum dma_data_direction direction;
};

static void note(struct vpcib_card *card, u8 what, u64 address, size_t bytes)
{
	journal_note(card, (struct vpcib_access){
				   .what = what,
				   .context = what == VPCIB_DMA_GIVEN ||
							      what == VPCIB_DMA_TAKEN
						      ? VPCIB_KERNEL
						      : VPCIB_CARD,
				   .value = address,
				   .offset = bytes,
				   .flags = card->gone ? VPCIB_ABSENT : 0 });
}

/* --- the driver's side -------------------------------------------------------------- */

static void given_free(struct given *given)
{
	if (given)
		kvfree(given->before);
	kfree(given);
}

static struct given *given_alloc(struct given given, gfp_t gfp)
{
	struct given *kept = kmalloc(sizeof(*kept), gfp);

	if (kept) {
		*kept = given;
		if (interrupt_races())
			kept->before = gfp == GFP_KERNEL ? kvmalloc(given.bytes, gfp)
							 : kmalloc(given.bytes,
								   gfp | __GFP_NOWARN);
	}
	return kept;
}

void dma_give(const struct device *dev, u64 address, size_t bytes,
	      enum dma_data_direction direction, gfp_t gfp)
{
	struct given *kept =
		given_alloc((struct given){ .address = address,
					    .bytes = bytes,
					    .where = phys_to_virt(
						    dma_to_phys((void *)dev, address)),
					    .direction = direction },
			    gfp);
	struct vpcib_card *card;
	unsigned long flags;

	rcu_read_lock();
	card = card_of(dev);
	if (card && kept) {
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		list_add(&kept->list, &card->dma);
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
		note(card, VPCIB_DMA_GIVEN, address, bytes);
		kept = NULL;
	}
	rcu_read_unlock();
	given_free(kept);
}

static struct given *find(struct vpcib_card *card, u64 address)
{
	struct given *given;

	list_for_each_entry (given, &card->dma, list) {
		if (given->address == address)
			return given;
	}
	return NULL;
}

void dma_take_back(const struct device *dev, u64 address)
{
	struct given *given = NULL;
	struct vpcib_card *card;
	unsigned long flags;

	rcu_read_lock();
	card = card_of(dev);
	if (card) {
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		given = find(card, address);
		if (given)
			list_del(&given->list);
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
		note(card, VPCIB_DMA_TAKEN, address, given ? given->bytes : 0);
	}
	rcu_read_unlock();
	given_free(given);
}

/* --- the card's side ---------------------------------------------------------------- */

static struct given *holding(struct vpcib_card *card, u64 address, size_t bytes)
{
	struct given *given;

	list_for_each_entry (given, &card->dma, list) {
		if (address >= given->address && bytes <= given->bytes &&
		    address - given->address <= given->bytes - bytes)
			return given;
	}
	return NULL;
}

/*
 * Writes a record to the journal if bytes have changed since their transfer began.  The list is
 * locked.
 */
static void compare(struct vpcib_card *card, u32 index, u64 address, size_t bytes)
{
	struct given *given = holding(card, address, bytes);
	size_t at = given ? address - given->address : 0;

	if (!given || !given->before ||
	    !memcmp(given->where + at, given->before + at, bytes))
		return;
	note(card, VPCIB_DMA_CHANGED, address, bytes);
	card->begun[index].reads = false;
}

static void compare_all(struct vpcib_card *card, u64 address, size_t bytes)
{
	u32 i;

	for (i = 0; i < TRANSFERS_MOST; i++) {
		u64 begin = max(address, card->begun[i].address);
		u64 end = min(address + bytes,
			      card->begun[i].address + card->begun[i].bytes);

		if (card->begun[i].reads && begin < end)
			compare(card, i, begin, end - begin);
	}
}

/* Saves the present contents of the memory, for compare().  The list is locked. */
static void remember(struct vpcib_card *card, u64 address, size_t bytes)
{
	struct given *given = holding(card, address, bytes);

	if (given && given->before)
		memcpy(given->before + (address - given->address),
		       given->where + (address - given->address), bytes);
}

void vpcib_dma_begin(struct vpcib_card *card, u64 address, size_t bytes, bool reads)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&card->dma_lock, flags);
	if (reads)
		remember(card, address, bytes);
	i = ++card->last_begun % TRANSFERS_MOST;
	card->begun[i].address = address;
	card->begun[i].bytes = bytes;
	card->begun[i].reads = reads;
	note(card, VPCIB_DMA_BEGUN, address, bytes);
	raw_spin_unlock_irqrestore(&card->dma_lock, flags);
}
EXPORT_SYMBOL_GPL(vpcib_dma_begin);

void vpcib_dma_end(struct vpcib_card *card, u64 address)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&card->dma_lock, flags);
	for (i = 0; i < TRANSFERS_MOST; i++) {
		size_t bytes = card->begun[i].bytes;

		if (!bytes || card->begun[i].address != address)
			continue;
		if (card->begun[i].reads)
			compare(card, i, address, bytes);
		card->begun[i].bytes = 0;
		note(card, VPCIB_DMA_ENDED, address, bytes);
	}
	raw_spin_unlock_irqrestore(&card->dma_lock, flags);
}
EXPORT_SYMBOL_GPL(vpcib_dma_end);

static int transfer(struct vpcib_card *card, u64 address, void *buffer, size_t bytes,
		    bool to_driver)
{
	enum dma_data_direction forbidden = to_driver ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	struct given *given;
	unsigned long flags;
	bool may;

	raw_spin_lock_irqsave(&card->dma_lock, flags);
	given = holding(card, address, bytes);
	may = given && given->direction != forbidden && !card->gone;
	if (may && !to_driver)
		compare_all(card, address, bytes);
	if (may && to_driver)
		memcpy(given->where + (address - given->address), buffer, bytes);
	else if (may)
		memcpy(buffer, given->where + (address - given->address), bytes);
	raw_spin_unlock_irqrestore(&card->dma_lock, flags);
	note(card,
	     !may	 ? VPCIB_DMA_REFUSED
	     : to_driver ? VPCIB_DMA_WRITE
			 : VPCIB_DMA_READ,
	     address, bytes);
	return may ? 0 : -EFAULT;
}

int vpcib_dma_read(struct vpcib_card *card, u64 address, void *to, size_t bytes)
{
	return transfer(card, address, to, bytes, false);
}
EXPORT_SYMBOL_GPL(vpcib_dma_read);

int vpcib_dma_write(struct vpcib_card *card, u64 address, const void *from,
		    size_t bytes)
{
	return transfer(card, address, (void *)from, bytes, true);
}
EXPORT_SYMBOL_GPL(vpcib_dma_write);

/* Locked. */
static bool lies_in_given(struct vpcib_card *card, phys_addr_t where)
{
	struct given *given;

	list_for_each_entry (given, &card->dma, list) {
		if (where - virt_to_phys(given->where) < given->bytes)
			return true;
	}
	return false;
}

/*
 * Returns whether any driver has given the memory at this address to its card.  May be called in
 * any context.
 */
bool dma_is_given(phys_addr_t where)
{
	struct vpcib_card *card;
	unsigned long flags;
	bool is = false;
	u32 slot;

	rcu_read_lock();
	for (slot = 0; slot < SLOTS && !is; slot++) {
		card = card_in(slot);
		if (!card)
			continue;
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		is = lies_in_given(card, where);
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
	}
	rcu_read_unlock();
	return is;
}

void dma_forget(struct vpcib_card *card)
{
	struct given *given, *next;

	list_for_each_entry_safe (given, next, &card->dma, list)
		given_free(given);
	INIT_LIST_HEAD(&card->dma);
}
