/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device in a card: its registers, as the specification declares them, its interrupts, and a
 * thread for work that takes time.  A card is defined by two files: cards/NAME.yaml is the
 * specification, and cards/NAME.c implements the behaviour.
 */
#ifndef UNDERSTUDY_VGPU_DEVICE_H
#define UNDERSTUDY_VGPU_DEVICE_H

#include <linux/workqueue.h>

#include "../../core/cards/registers.h"
#include "../vpcib/vpcib.h"

/**
 * struct vgpu - one card that is plugged in
 * @card: the card on the bus
 * @registers: the values of the registers, guarded by the card's lock
 * @state: the behaviour's own state, zero at first
 * @resets: how often the card was reset.  Work that goes on outside of the lock compares it, so that
 *   it changes nothing after a reset.
 *
 * The rest is private.
 */
struct vgpu {
	struct vpcib_card *card;
	struct registers registers;
	void *state;
	u32 resets;

	u64 sources; /* one bit for each active interrupt of the table */
	u64 asserted; /* vectors that the behaviour asserts */
	u64 messages; /* vectors whose message the behaviour sends */
	struct workqueue_struct *thread;
	struct work_struct work;
	atomic64_t
		due; /* when vgpu_wake was called, in ns, if work() has not begun since; 0: it has */
	bool hurries; /* work() is called within the access that has made it due */
	atomic_t working; /* 1 while work() runs */
	u64 *values;
};

/**
 * struct behaviour - the behaviour of a particular card
 * @table: table made from the card's specification
 * @state_bytes: size of the behaviour's own state
 * @start: called before the card is on the bus; may sleep
 * @stop: called when the card has left the bus and the card's thread has ended; may sleep
 * @reset: called after the registers were set to their power-on values, also at the start.  Locked.
 * @may_store: called before a driver's store.  If @may_store returns false, the store changes
 *   nothing.  Locked.  If NULL, every store is allowed.
 * @stored: called after a driver stored @value into register @index and the register's bits have
 *   changed.  Locked.  May be NULL.
 * @loading: called before a driver loads register @index.  Locked.  May be NULL.
 * @work: called in the card's own thread after vgpu_wake; may sleep.  May be NULL.
 * @never_sleeps: work() does not sleep.  So it may also be called within a driver's store, as by a
 *   card that hurries, and while a driver accesses registers again and again where it can't be
 *   preempted, when the card's thread may have no processor.
 *
 * "Locked" means that the function is called under the card's lock, in any context, with interrupts
 * off.
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
	bool never_sleeps;
};

/* The behaviour of the card in this module; cards/NAME.c defines it. */
extern const struct behaviour card_behaviour;

unsigned long vgpu_lock(struct vgpu *device);

/* Unlocks the card, and sends interrupts for the changes since vgpu_lock. */
void vgpu_unlock(struct vgpu *device, unsigned long flags);

/*
 * Returns the value of a register, which may differ from the value that a driver would load.
 * Locked.
 */
static inline u64 vgpu_get(const struct vgpu *device, u32 index)
{
	return device->registers.values[index];
}

/* Changes a register.  Unlike a driver, the card itself may change any bit.  Locked. */
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

/*
 * Sends the message of a vector whose interrupts have no status bit, and asserts INTA until
 * vgpu_deassert.  Locked.
 */
static inline void vgpu_assert(struct vgpu *device, u32 vector)
{
	device->asserted |= 1ull << vector;
	device->messages |= 1ull << vector;
}

static inline void vgpu_deassert(struct vgpu *device, u32 vector)
{
	device->asserted &= ~(1ull << vector);
}

/*
 * Makes the card's thread call work().  If work() is running already, it is called once more.  May
 * be called in any context.
 */
void vgpu_wake(struct vgpu *device);

/* Sets all registers to their power-on values and calls reset().  Locked. */
void vgpu_reset(struct vgpu *device);

#endif
