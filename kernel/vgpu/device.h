/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device in a card: registers as its specification says, interrupts, and the thread in
 * which it does what takes time.  A card is cards/NAME.yaml and cards/NAME.c, which says
 * here how it behaves.
 */
#ifndef UNDERSTUDY_VGPU_DEVICE_H
#define UNDERSTUDY_VGPU_DEVICE_H

#include <linux/workqueue.h>

#include "../../core/cards/registers.h"
#include "../vpcib/vpcib.h"

/**
 * struct vgpu - one card that is plugged in
 * @card: on the bus
 * @registers: what its registers hold; under the card's lock
 * @state: the behaviour's own, zero at first
 *
 * The rest is private.
 */
struct vgpu {
	struct vpcib_card *card;
	struct registers registers;
	void *state;

	u64 sources; /* interrupts of the table that have a reason, a bit each */
	struct workqueue_struct *thread;
	struct work_struct work;
	u64 *values;
};

/**
 * struct behaviour - what is particular to a card
 * @table: made from its specification
 * @state_bytes: of its state
 * @start: before it is on the bus; may sleep
 * @stop: it is off the bus, and its thread has ended; may sleep
 * @reset: its registers are as after power-on, also the first time.  Locked.
 * @may_store: a driver's store; false: it changes nothing.  Locked; NULL: always.
 * @stored: a driver has stored @value into register @index; it has had its effect on the
 *	register's bits.  Locked; NULL: that is all.
 * @loading: a driver is about to load register @index.  Locked; NULL: nothing to do.
 * @work: called in the card's own thread after vgpu_wake; may sleep; NULL: never
 *
 * Locked means: under the card's lock, in any context, with interrupts off.
 */
struct behaviour {
	const struct card_table *table;
	size_t state_bytes;
	int (*start)(struct vgpu *device);
	void (*stop)(struct vgpu *device);
	void (*reset)(struct vgpu *device);
	bool (*may_store)(struct vgpu *device, u32 index);
	void (*stored)(struct vgpu *device, u32 index, u64 value);
	void (*loading)(struct vgpu *device, u32 index);
	void (*work)(struct vgpu *device);
};

/* Of the module that a card becomes; supplied by cards/NAME.c. */
extern const struct behaviour card_behaviour;

unsigned long vgpu_lock(struct vgpu *device);

/* Interrupts go out for what has changed meanwhile. */
void vgpu_unlock(struct vgpu *device, unsigned long flags);

/* What a register holds, whatever a driver would read; locked. */
static inline u64 vgpu_get(const struct vgpu *device, u32 index)
{
	return device->registers.values[index];
}

/* The card itself may change any bit; locked. */
static inline void vgpu_set(struct vgpu *device, u32 index, u64 value)
{
	device->registers.values[index] = value;
}

static inline void vgpu_set_bits(struct vgpu *device, u32 index, u64 bits)
{
	device->registers.values[index] |= bits;
}

static inline void vgpu_clear_bits(struct vgpu *device, u32 index, u64 bits)
{
	device->registers.values[index] &= ~bits;
}

/* Have the card's thread run work(), once more if it is running already.  Any context. */
void vgpu_wake(struct vgpu *device);

/* All registers as after power-on, and what reset() adds; locked. */
void vgpu_reset(struct vgpu *device);

#endif
