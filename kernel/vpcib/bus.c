// SPDX-License-Identifier: GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "bus.h"

static u8 context_of(const struct access_bus *at)
{
	if (at->user)
		return VPCIB_USER;
	return in_hardirq()	      ? VPCIB_HARD_INTERRUPT
	       : in_serving_softirq() ? VPCIB_SOFT_INTERRUPT
				      : VPCIB_KERNEL;
}

static u8 flags_of(const struct access_bus *at)
{
	bool soft = at->interrupts && !softirq_count();

	return (at->card->gone || at->card->silent ? VPCIB_ABSENT : 0) |
	       (config_decodes(at->card, at->bar) ? 0 : VPCIB_NOT_DECODED) |
	       (at->interrupts && irqs_may_come(at->card) ? VPCIB_INTERRUPTIBLE : 0) |
	       (soft ? VPCIB_SOFT_INTERRUPTIBLE : 0);
}

static void touched(const struct access_bus *at)
{
	if (!in_hardirq())
		interrupt_touched(at->card);
}

void bus_note(const struct access_bus *at, u8 what, u32 offset, u64 value, u32 bytes)
{
	journal_note(at->card, (struct vpcib_access){ .value = value,
						      .ip = at->ip,
						      .offset = offset,
						      .bar = at->bar,
						      .bytes = bytes,
						      .what = what,
						      .context = context_of(at),
						      .flags = flags_of(at) });
}

static u32 offset_of(const struct access_bus *at, u64 address)
{
	return at->offset + (u32)(address - at->address);
}

/* Returns whether accesses to the card's BARs reach it.  Its MSI-X table answers all of these. */
static bool is_reached(const struct vpcib_card *card, u32 bar)
{
	return !card->gone && config_decodes(card, bar);
}

/* Returns whether the card reacts to accesses of its registers. */
bool bus_is_answered(const struct vpcib_card *card, u32 bar)
{
	return is_reached(card, bar) && !card->silent;
}

void bus_suffer(struct vpcib_card *card)
{
	aer_suffer(card);
	card->silent = card->broken || fault_is_silent(card);
	if (card->kind->reset && fault_happens(card, FAULT_RESET))
		card->kind->reset(card);
}

/* Loads from a register.  If the card does not react, returns all ones. */
static u64 load_locked(struct access_bus *at, u32 offset, u32 bytes)
{
	u64 value = ~0ull >> (64 - 8 * bytes);

	bus_suffer(at->card);
	if (bus_is_answered(at->card, at->bar))
		value = at->card->kind->load(at->card, at->bar, offset, bytes);
	bus_note(at, VPCIB_LOAD, offset, value, bytes);
	touched(at);
	return value;
}

static u64 bus_load(struct device_bus *bus, u64 address, u32 bytes)
{
	struct access_bus *at = container_of(bus, struct access_bus, bus);
	u64 value = ~0ull >> (64 - 8 * bytes);
	u32 offset = offset_of(at, address);
	unsigned long flags;

	if (!at->card)
		return value;
	flags = vpcib_lock(at->card);
	if (!msix_holds(at->card, at->bar, offset, bytes))
		value = load_locked(at, offset, bytes);
	else if (is_reached(at->card, at->bar))
		value = msix_load(at->card, offset, bytes);
	vpcib_unlock(at->card, flags);
	return value;
}

void bus_store_locked(struct access_bus *at, u32 offset, u64 value, u32 bytes)
{
	if (at->read_only) {
		at->refused = true;
		return;
	}
	if (msix_holds(at->card, at->bar, offset, bytes)) {
		if (is_reached(at->card, at->bar))
			msix_store(at->card, offset, value, bytes);
		return;
	}
	bus_suffer(at->card);
	bus_note(at, VPCIB_STORE, offset, value, bytes);
	if (bus_is_answered(at->card, at->bar))
		at->card->kind->store(at->card, at->bar, offset, value, bytes);
	touched(at);
}

static void bus_store(struct device_bus *bus, u64 address, u64 value, u32 bytes)
{
	struct access_bus *at = container_of(bus, struct access_bus, bus);
	unsigned long flags;

	if (!at->card)
		return;
	flags = vpcib_lock(at->card);
	bus_store_locked(at, offset_of(at, address), value, bytes);
	vpcib_unlock(at->card, flags);
}

static int from_kernel(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	return copy_from_kernel_nofault(to, (void *)from, bytes);
}

static long (*write_kernel)(void *to, const void *from, size_t bytes);

static int to_kernel(struct device_bus *bus, u64 to, const void *from, u32 bytes)
{
	return write_kernel((void *)to, from, bytes);
}

static int miss(struct device_bus *bus, u64 address, u32 bytes, unsigned int flags)
{
	struct access_bus *at = container_of(bus, struct access_bus, bus);

	at->missing.address = address;
	at->missing.bytes = bytes;
	at->missing.flags = flags;
	return -EFAULT;
}

static int from_user(struct device_bus *bus, void *to, u64 from, u32 bytes)
{
	if (copy_from_user_nofault(to, (void __user *)from, bytes))
		return miss(bus, from, bytes, 0);
	return 0;
}

static int to_user(struct device_bus *bus, u64 to, const void *from, u32 bytes)
{
	if (copy_to_user_nofault((void __user *)to, from, bytes))
		return miss(bus, to, bytes, FAULT_FLAG_WRITE);
	return 0;
}

struct access_bus bus_of(struct pt_regs *regs, unsigned long address)
{
	bool user = user_mode(regs);

	return (struct access_bus){
		.bus = { .load = bus_load,
			 .store = bus_store,
			 .from_memory = user ? from_user : from_kernel,
			 .to_memory = user ? to_user : to_kernel },
		.address = address,
		.ip = regs->ip,
		.user = user,
		.interrupts = regs->flags & X86_EFLAGS_IF,
	};
}

int bus_init(void)
{
	write_kernel = (void *)symbol_address("copy_to_kernel_nofault");
	if (!write_kernel)
		pr_err("no copy_to_kernel_nofault in this kernel\n");
	return write_kernel ? 0 : -ENOENT;
}
