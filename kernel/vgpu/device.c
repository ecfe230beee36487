// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour that all cards share (device.h), and the functions that load and unload a card's
 * module.  When the module is loaded, it plugs in as many cards as the parameter "instances" says,
 * each with its own registers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "device.h"

#define PATIENCE_NS (300 * NSEC_PER_USEC)

static unsigned int instances = 1;
module_param(instances, uint, 0444);
MODULE_PARM_DESC(instances, "cards to plug in at once; more by /sys/kernel/vpcib/add");

static struct vgpu *vgpu_of(struct vpcib_card *card)
{
	return *(struct vgpu **)vpcib_state(card);
}

/*
 * Sends a message for each interrupt that has become active, and updates the set of active vectors.
 * An interrupt is active while its status bit and its enable bit are both set, or while the card's
 * behaviour asserts its vector.
 */
static void update_interrupts(struct vgpu *device)
{
	const struct card_table *table = device->registers.table;
	u64 vectors = 0, messages = device->messages, sources = 0;
	u32 i;

	for (i = 0; i < table->nr_interrupts; i++) {
		const struct card_interrupt *interrupt = &table->interrupts[i];
		u64 vector = 1ull << interrupt->vector;

		if (!registers_interrupts(&device->registers, interrupt) &&
		    (interrupt->status_bit || !(device->asserted & vector)))
			continue;
		sources |= 1ull << i;
		vectors |= vector;
		if (interrupt->status_bit && !(device->sources & 1ull << i))
			messages |= vector;
	}
	if (sources != device->sources || messages)
		vpcib_interrupt(device->card, vectors, messages, sources);
	device->sources = sources;
	device->messages = 0;
}

unsigned long vgpu_lock(struct vgpu *device)
{
	return vpcib_lock(device->card);
}

void vgpu_unlock(struct vgpu *device, unsigned long flags)
{
	update_interrupts(device);
	vpcib_unlock(device->card, flags);
}

void vgpu_wake(struct vgpu *device)
{
	atomic64_cmpxchg(&device->due, 0, ktime_get_ns());
	queue_work(device->thread, &device->work);
}

void vgpu_reset(struct vgpu *device)
{
	registers_reset(&device->registers);
	device->asserted = 0;
	WRITE_ONCE(device->resets, device->resets + 1);
	if (card_behaviour.reset)
		card_behaviour.reset(device);
	vpcib_dma_end_all(device->card);
}

static u64 load(struct vpcib_card *card, u32 bar, u32 offset, u32 bytes)
{
	struct vgpu *device = vgpu_of(card);
	struct registers *registers = &device->registers;
	struct register_access access =
		registers_access(registers->table, bar, offset, bytes);
	struct register_part part;
	u64 value = 0;

	while (registers_next(&access, &part)) {
		if (!register_is_loaded(&registers->table->registers[part.index]))
			continue;
		if (card_behaviour.loading)
			card_behaviour.loading(device, part.index);
		value |= part_to_access(
			&part, registers_load(registers, part.index, part.lanes));
	}
	update_interrupts(device);
	return value;
}

static void store(struct vpcib_card *card, u32 bar, u32 offset, u64 value, u32 bytes)
{
	struct vgpu *device = vgpu_of(card);
	struct registers *registers = &device->registers;
	struct register_access access =
		registers_access(registers->table, bar, offset, bytes);
	struct register_part part;
	bool idle = !atomic64_read(&device->due);

	while (registers_next(&access, &part)) {
		u64 word = part_to_register(&part, value);

		if (!register_is_stored(&registers->table->registers[part.index]) ||
		    (card_behaviour.may_store &&
		     !card_behaviour.may_store(device, part.index)))
			continue;
		registers_store(registers, part.index, word, part.lanes);
		if (card_behaviour.stored)
			card_behaviour.stored(device, part.index, word);
	}
	if (idle && card_behaviour.never_sleeps)
		device->hurries = atomic64_read(&device->due) && vpcib_hurries(card);
	update_interrupts(device);
}

static void reset(struct vpcib_card *card)
{
	vgpu_reset(vgpu_of(card));
	update_interrupts(vgpu_of(card));
}

static u32 peek(struct vpcib_card *card, u32 bar, u32 offset, u64 *value)
{
	struct vgpu *device = vgpu_of(card);
	const struct card_table *table = device->registers.table;
	struct register_access access = registers_access(table, bar, offset, 1);
	const struct card_register *reg;
	struct register_part part;
	u32 bytes;

	if (!registers_next(&access, &part))
		return 0;
	reg = &table->registers[part.index];
	bytes = reg->bytes == 8 && reg->offset % 8 ? 4 : reg->bytes;
	if (part.shift % (8 * (s32)bytes))
		return 0;
	*value = (vgpu_get(device, part.index) & reg->readable) >> -part.shift;
	return bytes;
}

/* Calls work() if it is due, in one place at a time. */
static void work_once(struct vgpu *device)
{
	if (atomic_cmpxchg(&device->working, 0, 1))
		return;
	if (atomic64_xchg(&device->due, 0))
		card_behaviour.work(device);
	atomic_set_release(&device->working, 0);
}

static void run(struct work_struct *work)
{
	struct vgpu *device = container_of(work, struct vgpu, work);

	if (!atomic64_read(&device->due))
		return; /* accessed() has done it */
	vpcib_dawdle(device->card);
	while (atomic64_read(&device->due)) {
		work_once(device);
		cond_resched();
	}
}

/*
 * Works for the card's thread if the card hurries, or if the thread may have no processor since the
 * driver polls.  In the second case the thread gets some time first, as long as it dawdles.
 */
static void accessed(struct vpcib_card *card, bool spins)
{
	struct vgpu *device = vgpu_of(card);
	u64 due = atomic64_read(&device->due);
	bool now = READ_ONCE(device->hurries) ||
		   (spins && ktime_get_ns() - due > PATIENCE_NS);

	if (card_behaviour.never_sleeps && due && now &&
	    !atomic_read(&device->working) && !vpcib_stalls(card))
		work_once(device);
}

static void vgpu_free(struct vgpu *device)
{
	if (device->thread)
		destroy_workqueue(device->thread);
	kfree(device->values);
	kfree(device->state);
	kfree(device);
}

static struct vgpu *vgpu_alloc(struct vpcib_card *card)
{
	const struct card_table *table = card_behaviour.table;
	struct vgpu *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return NULL;
	device->card = card;
	device->values = kcalloc(table->nr_registers, sizeof(u64), GFP_KERNEL);
	device->state =
		kzalloc(max_t(size_t, card_behaviour.state_bytes, 1), GFP_KERNEL);
	device->thread = alloc_ordered_workqueue("%s%u", WQ_MEM_RECLAIM, table->name,
						 vpcib_number(card));
	INIT_WORK(&device->work, run);
	if (!device->values || !device->state || !device->thread) {
		vgpu_free(device);
		return NULL;
	}
	device->registers =
		(struct registers){ .table = table, .values = device->values };
	return device;
}

static int start(struct vpcib_card *card)
{
	struct vgpu *device = vgpu_alloc(card);
	unsigned long flags;
	int ret;

	if (!device)
		return -ENOMEM;
	*(struct vgpu **)vpcib_state(card) = device;
	ret = card_behaviour.start ? card_behaviour.start(device) : 0;
	if (ret) {
		vgpu_free(device);
		return ret;
	}
	flags = vpcib_lock(card);
	vgpu_reset(device);
	vpcib_unlock(card, flags);
	return 0;
}

static void stop(struct vpcib_card *card)
{
	struct vgpu *device = vgpu_of(card);

	cancel_work_sync(&device->work);
	if (card_behaviour.stop)
		card_behaviour.stop(device);
	vgpu_free(device);
}

static struct vpcib_kind kind = {
	.state_bytes = sizeof(struct vgpu *),
	.start = start,
	.load = load,
	.store = store,
	.peek = peek,
	.reset = reset,
	.accessed = accessed,
	.stop = stop,
};

static bool has_registers(const struct card_table *table, u32 bar)
{
	u32 i;

	for (i = 0; i < table->nr_registers; i++) {
		if (table->registers[i].bar == bar)
			return true;
	}
	return false;
}

static void describe(const struct card_table *table)
{
	u32 i;

	kind.name = table->name;
	kind.functions = table->functions;
	kind.vendor = table->vendor;
	kind.device = table->device;
	kind.subsystem_vendor = table->subsystem_vendor;
	kind.subsystem = table->subsystem;
	kind.class_code = table->class_code;
	kind.revision = table->revision;
	kind.msi_vectors = table->msi_vectors;
	kind.msix_vectors = table->msix_vectors;
	kind.msix_bar = table->msix_bar;
	kind.msix_table = table->msix_table;
	kind.msix_pending = table->msix_pending;
	kind.has_pm = table->has_pm;
	kind.keeps_registers = table->no_soft_reset;
	kind.is_express = table->is_express;
	kind.has_flr = table->has_flr;
	kind.has_aer = table->has_aer;
	kind.nr_vendor_capabilities = table->nr_vendor_capabilities;
	for (i = 0; i < table->nr_vendor_capabilities; i++)
		kind.vendor_capabilities[i] = (struct vpcib_capability){
			.at = table->vendor_capabilities[i].at,
			.bytes = table->vendor_capabilities[i].bytes,
			.data = table->vendor_capabilities[i].data
		};
	for (i = 0; i < table->nr_bars; i++)
		kind.bars[table->bars[i].number] = (struct vpcib_bar){
			.bytes = table->bars[i].bytes,
			.is64 = table->bars[i].is64,
			.is_io = table->bars[i].is_io,
			.is_memory = !table->bars[i].is_io &&
				     !has_registers(table, table->bars[i].number),
		};
}

/*
 * notrace: the driver is later loaded where this function was, and its functions would be taken for
 * this one (kernel/vpcib/main.c).
 */
static int __init notrace vgpu_init(void)
{
	unsigned int i;
	int ret;

	describe(card_behaviour.table);
	ret = vpcib_register(&kind);
	if (ret)
		return ret;
	for (i = 0; i < instances; i++) {
		ret = vpcib_add(&kind);
		if (ret < 0) {
			pr_err("card %u can't be plugged in\n", i);
			vpcib_unregister(&kind);
			return ret;
		}
	}
	return 0;
}

static void __exit vgpu_exit(void)
{
	vpcib_unregister(&kind);
}

module_init(vgpu_init);
module_exit(vgpu_exit);
MODULE_DESCRIPTION("A virtual PCI card");
MODULE_LICENSE("GPL");
