// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a list of the memory that a driver has given to its card, and carries out the card's reads
 * and writes.
 *
 * A card can access only memory in the list.  Any other access is refused, and nothing is read or
 * written.  The list stays locked while memory is copied, so the driver can't free the memory
 * meanwhile.
 *
 * With the parameter "races", a card accesses a copy of memory that was mapped (dma_map_single,
 * dma_map_sg), as through a bounce buffer.  The bytes are copied when the driver maps, syncs and
 * unmaps the memory.  So a driver that does not sync its memory gets and sends old bytes.
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
	void *memory; /* the kernel's address */
	void *where; /* what the card accesses: the memory, or a copy */
	void *sent; /* the driver's bytes when it last mapped or synced them; NULL: no copy */
	u8 *before; /* contents at the beginning of a transfer (with "races"), or NULL */
	enum dma_data_direction direction;
	bool mapped; /* or else, allocated */
};

static void note_flags(struct vpcib_card *card, u8 what, u64 address, size_t bytes,
		       u8 flags)
{
	journal_note(card, (struct vpcib_access){
				   .what = what,
				   .context = what == VPCIB_DMA_GIVEN ||
							      what == VPCIB_DMA_TAKEN
						      ? VPCIB_KERNEL
						      : VPCIB_CARD,
				   .value = address,
				   .offset = bytes,
				   .flags = flags | (card->gone ? VPCIB_ABSENT : 0) });
}

static void note(struct vpcib_card *card, u8 what, u64 address, size_t bytes)
{
	note_flags(card, what, address, bytes, 0);
}

/* --- the driver's side -------------------------------------------------------------- */

static void given_free(struct given *given)
{
	if (given) {
		kvfree(given->before);
		kfree(given->sent);
		if (given->where != given->memory)
			kfree(given->where);
	}
	kfree(given);
}

static struct given *given_alloc(struct given given, gfp_t gfp)
{
	struct given *kept = kmalloc(sizeof(*kept), gfp);

	if (kept) {
		*kept = given;
		if (given.mapped && interrupt_races()) {
			kept->where = kmemdup(given.memory, given.bytes,
					      GFP_ATOMIC | __GFP_NOWARN)
					      ?: given.memory;
			kept->sent = kmemdup(given.memory, given.bytes,
					     GFP_ATOMIC | __GFP_NOWARN);
		}
		if (interrupt_races())
			kept->before = gfp == GFP_KERNEL ? kvmalloc(given.bytes, gfp)
							 : kmalloc(given.bytes,
								   gfp | __GFP_NOWARN);
	}
	return kept;
}

static void give(const struct device *dev, u64 address, size_t bytes,
		 enum dma_data_direction direction, bool mapped, gfp_t gfp)
{
	void *memory = phys_to_virt(dma_to_phys((void *)dev, address));
	struct given *kept = given_alloc((struct given){ .address = address,
							 .bytes = bytes,
							 .memory = memory,
							 .where = memory,
							 .direction = direction,
							 .mapped = mapped },
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

void dma_give(const struct device *dev, u64 address, size_t bytes,
	      enum dma_data_direction direction, gfp_t gfp)
{
	give(dev, address, bytes, direction, false, gfp);
}

void dma_give_mapped(const struct device *dev, u64 address, size_t bytes,
		     enum dma_data_direction direction)
{
	give(dev, address, bytes, direction, true, GFP_ATOMIC);
}

/* Memory may be given several times: that with this length and direction is preferred. */
static struct given *find(struct vpcib_card *card, u64 address, size_t bytes,
			  enum dma_data_direction direction)
{
	struct given *given, *other = NULL;

	list_for_each_entry (given, &card->dma, list) {
		if (given->address != address)
			continue;
		if (given->bytes == bytes && given->direction == direction)
			return given;
		other = other ?: given;
	}
	return other;
}

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

/* Remembers what the driver has mapped or synced.  Locked. */
static void agree(struct given *given, size_t at, size_t bytes)
{
	if (given->sent)
		memcpy(given->sent + at, given->memory + at, bytes);
}

/* Returns whether the driver has changed bytes since it mapped or synced them.  Locked. */
static bool is_stale(const struct given *given, u64 address, size_t bytes)
{
	size_t at = address - given->address;

	return given->where != given->memory && given->sent &&
	       memcmp(given->sent + at, given->memory + at, bytes);
}

/*
 * Copies what the card may have written, from the copy to the driver's memory.  The range is in the
 * memory.
 */
static void fetch(struct given *given, u64 address, size_t bytes)
{
	size_t at = address - given->address;

	if (given->where == given->memory || given->direction == DMA_TO_DEVICE)
		return;
	memcpy(given->memory + at, given->where + at, bytes);
	agree(given, at, bytes);
}

/* Copies the driver's memory to the copy. */
static void send(struct given *given, u64 address, size_t bytes)
{
	size_t at = address - given->address;

	if (given->where == given->memory)
		return;
	memcpy(given->where + at, given->memory + at, bytes);
	agree(given, at, bytes);
}

/* dma_sync_single_for_cpu and its relatives, or `for_card`, dma_sync_single_for_device */
void dma_sync(const struct device *dev, u64 address, size_t bytes, bool for_card)
{
	struct vpcib_card *card;
	struct given *given;
	unsigned long flags;

	rcu_read_lock();
	card = card_of(dev);
	if (card) {
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		given = holding(card, address, bytes);
		if (given)
			(for_card ? send : fetch)(given, address, bytes);
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
	}
	rcu_read_unlock();
}

/* Notes that the driver unmaps or frees memory that it has not given so. */
static void note_release(struct vpcib_card *card, const struct given *given,
			 u64 address, size_t bytes, enum dma_data_direction direction)
{
	static const char *const names[] = { "both ways", "to the card",
					     "from the card", "no way" };
	struct vpcib_access access = { .value = VPCIB_RELEASES_OTHER,
				       .context = VPCIB_KERNEL };

	if (!given)
		misuse_note(card->number, access,
			    "%zu bytes at 0x%llx, which it does not have", bytes,
			    address);
	else if (given->bytes != bytes)
		misuse_note(card->number, access, "%zu bytes at 0x%llx of %zu", bytes,
			    address, given->bytes);
	else if (given->direction != direction)
		misuse_note(card->number, access, "at 0x%llx %s, mapped %s", address,
			    names[direction & 3], names[given->direction]);
}

void dma_take_back(const struct device *dev, u64 address, size_t bytes,
		   enum dma_data_direction direction)
{
	struct given *given = NULL;
	struct vpcib_card *card;
	unsigned long flags;
	u32 number = 0;

	rcu_read_lock();
	card = card_of(dev);
	if (card) {
		number = card->number;
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		given = find(card, address, bytes, direction);
		if (given) {
			list_del(&given->list);
			fetch(given, given->address, given->bytes);
		}
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
		note(card, VPCIB_DMA_TAKEN, address, given ? given->bytes : 0);
		note_release(card, given, address, bytes, direction);
	}
	rcu_read_unlock();
	if (given && !given->mapped)
		outlived_check(number, virt_to_phys(given->memory), given->bytes);
	given_free(given);
}

/* --- the card's side ---------------------------------------------------------------- */

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

void vpcib_dma_end_all(struct vpcib_card *card)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&card->dma_lock, flags);
	for (i = 0; i < TRANSFERS_MOST; i++) {
		if (card->begun[i].bytes)
			note(card, VPCIB_DMA_ENDED, card->begun[i].address,
			     card->begun[i].bytes);
		card->begun[i].bytes = 0;
	}
	raw_spin_unlock_irqrestore(&card->dma_lock, flags);
}
EXPORT_SYMBOL_GPL(vpcib_dma_end_all);

/* The card's own bytes are none that the driver has changed during a transfer.  Locked. */
static void write(struct vpcib_card *card, struct given *given, u64 address,
		  const void *from, size_t bytes)
{
	size_t at = address - given->address;

	memcpy(given->where + at, from, bytes);
	fault_corrupts(card, given->where + at, bytes);
	if (given->before)
		memcpy(given->before + at, given->where + at, bytes);
}

/*
 * Copies to or from the driver's memory.  Returns 0, -EFAULT if the driver has not given it to the
 * card, -EACCES if it may not be used so, or -EIO if a fault happens.  Locked.
 */
static int transfer_given(struct vpcib_card *card, u64 address, void *buffer,
			  size_t bytes, bool to_driver, bool *stale)
{
	enum dma_data_direction forbidden = to_driver ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	struct given *given = holding(card, address, bytes);

	if (!given)
		return -EFAULT;
	if (given->direction == forbidden)
		return -EACCES;
	if (fault_happens(card, FAULT_DMA))
		return -EIO;
	if (to_driver) {
		write(card, given, address, buffer, bytes);
		return 0;
	}
	compare_all(card, address, bytes);
	*stale = is_stale(given, address, bytes);
	memcpy(buffer, given->where + (address - given->address), bytes);
	fault_corrupts(card, buffer, bytes);
	return 0;
}

static int transfer(struct vpcib_card *card, u64 address, void *buffer, size_t bytes,
		    bool to_driver)
{
	bool stale = false;
	unsigned long flags;
	u8 why = 0;
	int ret;

	raw_spin_lock_irqsave(&card->dma_lock, flags);
	if (card->gone || card->broken)
		ret = -ENODEV;
	else if (!config_is_master(card))
		ret = -EPERM;
	else if (card->space)
		ret = iommu_transfer(card, address, buffer, bytes, to_driver);
	else
		ret = transfer_given(card, address, buffer, bytes, to_driver, &stale);
	raw_spin_unlock_irqrestore(&card->dma_lock, flags);
	if (ret == -EPERM)
		why = VPCIB_NOT_MASTER;
	else if (ret == -EACCES)
		why = VPCIB_WRONG_DIRECTION;
	else if (ret == -EIO || ret == -ENODEV)
		why = VPCIB_ABSENT;
	else if (stale)
		why = VPCIB_STALE;
	note_flags(card,
		   ret	       ? VPCIB_DMA_REFUSED
		   : to_driver ? VPCIB_DMA_WRITE
			       : VPCIB_DMA_READ,
		   address, bytes, why);
	return ret ? -EFAULT : 0;
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
static bool lies_in_given(struct vpcib_card *card, phys_addr_t where,
			  struct dma_place *at)
{
	struct given *given;

	list_for_each_entry (given, &card->dma, list) {
		phys_addr_t offset = where - virt_to_phys(given->memory);

		if (offset >= given->bytes)
			continue;
		*at = (struct dma_place){ .number = card->number,
					  .left = given->bytes - offset,
					  .allocated = !given->mapped };
		return true;
	}
	return false;
}

/*
 * Returns whether any driver has given the memory at this address to its card, and describes the
 * place.  May be called in any context.
 */
bool dma_find(phys_addr_t where, struct dma_place *at)
{
	struct vpcib_card *card;
	unsigned long flags;
	bool is = false;
	u32 number;

	rcu_read_lock();
	for_each_card (card, number) {
		raw_spin_lock_irqsave(&card->dma_lock, flags);
		is = lies_in_given(card, where, at);
		raw_spin_unlock_irqrestore(&card->dma_lock, flags);
		if (is)
			break;
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
