/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device in a card: its registers as in the specification, its interrupts, and a thread for
 * work that takes time.  A card consists of cards/NAME.yaml, the specification, and cards/NAME.c,
 * which supplies its behaviour.
 */
#ifndef UNDERSTUDY_VGPU_DEVICE_H
#define UNDERSTUDY_VGPU_DEVICE_H

#include <linux/workqueue.h>

#include "../../core/cards/registers.h"
#include "../vpcib/vpcib.h"

/**
 * struct vgpu - one card that is plugged in
 * @card: on the bus
 * @registers: the values of its registers; under the card's lock
 * @state: the behaviour's own state, zero at first
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
 * struct behaviour - the behaviour of a particular card
 * @table: made from its specification
 * @state_bytes: size of its state
 * @start: called before the card is on the bus; may sleep
 * @stop: called when the card has left the bus and its thread has ended; may sleep
 * @reset: called after its registers got their power-on values, also the first time.  Locked.
 * @may_store: called before a driver's store; false: it changes nothing.  Locked; NULL: always.
 * @stored: called after a driver stored @value into register @index and the register's bits have
 *   changed.  Locked; NULL: nothing more to do.
 * @loading: called before a driver loads register @index.  Locked; NULL: nothing to do.
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

/* The behaviour of the card in this module; cards/NAME.c defines it. */
extern const struct behaviour card_behaviour;

unsigned long vgpu_lock(struct vgpu *device);

/* Unlocks, and sends interrupts for changes since vgpu_lock. */
void vgpu_unlock(struct vgpu *device, unsigned long flags);

/* The value of a register, even if a driver would read another one; locked. */
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

/* Makes the card's thread call work(), once more if work() is running already.  Any context. */
void vgpu_wake(struct vgpu *device);

/* Gives all registers their power-on values and calls reset(); locked. */
void vgpu_reset(struct vgpu *device);

#endif
