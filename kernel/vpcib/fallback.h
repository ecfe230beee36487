/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes instructions that access registers of a card and that instruction.h does not support.
 * The papers used a daemon for this (Jones 2010 section 3.1.2).  The fallback works in the same
 * way, but at once and without disturbing other accesses.
 *
 * Under the card's lock, a page is filled with the values of the card's registers.  The processor
 * executes the instruction on that page.  Each register that has changed in the page is then
 * written to the card once, in ascending order of offsets, with the narrowest access that covers
 * the changed bytes.  The lock prevents other accesses to the card meanwhile, so no access is lost.
 *
 * As with the papers' daemon, the card does not see reads, nor writes that do not change a
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
 * @cpu: the registers at the fault; the instruction pointer is advanced
 * @code: the instruction's bytes
 * @bytes: number of available bytes
 *
 * Return: 0; -EOPNOTSUPP if the instruction can't be executed; then nothing has changed.
 */
int fallback_carry_out(struct access_bus *at, struct processor *cpu, const u8 *code,
		       size_t bytes);

#endif
