// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one fault, as a broken card or slot does, so that a driver can be tested with it.
 *
 * /sys/kernel/vpcib/fault gets "KIND N": the N-th opportunity from now on has the fault.
 *
 *	interrupt  the N-th message of an interrupt is lost (INTA can't be lost)
 *	dma        the N-th transfer of the card fails
 *	ones       from the N-th access to a register on, all loads return ones, and stores are lost,
 *	           for ONES_NS
 *	stall      the card begins its N-th piece of work STALL_NS late
 *	reset      the card resets itself at the N-th access to a register
 *	corrupt    a byte of the N-th transfer arrives inverted: byte N modulo the length, from 0
 *	request    the kernel refuses the driver's N-th request (refusal.c)
 *	error      the card reports a fatal error at the N-th access to a register (aer.c)
 *	none       no fault, also if one has not happened yet
 *
 * The journal has a record when the fault happens.  The file then reads "none", and before that, what
 * is still to come.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/export.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "card.h"

#define ONES_NS (20 * NSEC_PER_MSEC)
#define STALL_NS (3 * NSEC_PER_SEC)

static const char *const names[] = {
	[FAULT_NONE] = "none",	     [FAULT_INTERRUPT] = "interrupt",
	[FAULT_DMA] = "dma",	     [FAULT_ONES] = "ones",
	[FAULT_STALL] = "stall",     [FAULT_RESET] = "reset",
	[FAULT_CORRUPT] = "corrupt", [FAULT_REQUEST] = "request",
	[FAULT_ERROR] = "error",
};

static int wanted; /* an enum fault */
static unsigned int number; /* of the opportunity, from 1 */
static atomic_t left; /* opportunities until the fault */
static u64 ones_until; /* ns */

/* Returns 0, or -EINVAL if the text is not "KIND N" or "none". */
int fault_set(const char *text)
{
	char name[16];
	unsigned int count = 0;
	int kind, ret;

	if (sscanf(text, "%15s %u", name, &count) < 1)
		return -EINVAL;
	kind = match_string(names, ARRAY_SIZE(names), name);
	if (kind < 0 || (kind && !count) || count > INT_MAX)
		return -EINVAL;
	ret = refusal_watch(kind == FAULT_REQUEST);
	if (ret)
		return ret;
	WRITE_ONCE(wanted, FAULT_NONE);
	WRITE_ONCE(number, count);
	atomic_set(&left, count);
	WRITE_ONCE(wanted, kind);
	return 0;
}

int fault_show(char *text)
{
	int count = atomic_read(&left);

	return count ? sysfs_emit(text, "%s %d\n", names[READ_ONCE(wanted)], count)
		     : sysfs_emit(text, "none\n");
}

static bool happens(u32 number, enum fault kind)
{
	if (READ_ONCE(wanted) != kind || !atomic_add_unless(&left, -1, 0) ||
	    atomic_read(&left))
		return false;
	journal_note_number(number, (struct vpcib_access){ .what = VPCIB_FAULT,
							   .context = VPCIB_CARD,
							   .value = kind });
	return true;
}

/* Returns whether the fault happens at this opportunity for it.  Context: any. */
bool fault_happens(const struct vpcib_card *card, enum fault kind)
{
	return happens(card->number, kind);
}

/* The same for a fault of the whole bus, which the journal has for the card in its first slot. */
bool fault_is_due(enum fault kind)
{
	return happens(0, kind);
}

/* Inverts a byte of a transfer if the fault happens. */
void fault_corrupts(const struct vpcib_card *card, void *arrived, size_t bytes)
{
	if (bytes && fault_happens(card, FAULT_CORRUPT))
		((u8 *)arrived)[READ_ONCE(number) % bytes] ^= 0xff;
}

bool vpcib_stalls(struct vpcib_card *card)
{
	if (ktime_get_ns() < READ_ONCE(card->stalled_until))
		return true;
	if (!fault_happens(card, FAULT_STALL))
		return false;
	WRITE_ONCE(card->stalled_until, ktime_get_ns() + STALL_NS);
	return true;
}
EXPORT_SYMBOL_GPL(vpcib_stalls);

/* Returns whether the card does not answer now. */
bool fault_is_silent(const struct vpcib_card *card)
{
	if (fault_happens(card, FAULT_ONES))
		WRITE_ONCE(ones_until, ktime_get_ns() + ONES_NS);
	return READ_ONCE(wanted) == FAULT_ONES &&
	       ktime_get_ns() < READ_ONCE(ones_until);
}
