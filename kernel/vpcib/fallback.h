/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes instructions that access registers of a card but are not supported by instruction.h.
 * The papers used a daemon for this (Jones 2010 section 3.1.2).  The fallback has the same effect,
 * but acts at once and does not disturb other accesses.
 *
 * Under the card's lock, the fallback fills a page with the values of the card's registers.  The
 * processor then executes the instruction on that page.  Finally, each register that has changed in
 * the page is written to the card once, in ascending order of offsets, with the narrowest access
 * that covers the changed bytes.  Meanwhile the lock prevents other accesses to the card, so no
 * access is lost.
 *
 * As with the papers' daemon, the card does not see reads, or writes that do not change a
 * register's value.
 */
#ifndef UNDERSTUDY_VPCIB_FALLBACK_H
#define UNDERSTUDY_VPCIB_FALLBACK_H

#include "bus.h"

int fallback_init(void);
void fallback_exit(void);

/* Returns the number of instructions that the fallback has executed. */
u64 fallback_count(void);

/**
 * fallback_carry_out - execute an instruction
 * @at: the access that faulted
 * @cpu: the registers at the fault.  The instruction pointer is advanced.
 * @code: the instruction's bytes
 * @bytes: number of available bytes
 *
 * Return: 0, or -EOPNOTSUPP if the instruction can't be executed.  On error nothing has changed.
 */
int fallback_carry_out(struct access_bus *at, struct processor *cpu, const u8 *code,
		       size_t bytes);

#endif
