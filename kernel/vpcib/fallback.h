/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Carries out instructions at registers that instruction.h does not know.  It works as the papers'
 * daemon did (Jones 2010 section 3.1.2), but at once and without disturbing other accesses.
 *
 * Under the card's lock, a page is filled with the values of the card's registers.  The processor
 * carries out the instruction on that page.  Each register that has changed in the page is then
 * written to the card once, from the lowest up, in the narrowest access that covers the change.
 * The lock keeps others from the card meanwhile, so no access is lost.
 *
 * As with the daemon, the card does not see reads, or writes of a value that a register holds
 * already.
 */
#ifndef UNDERSTUDY_VPCIB_FALLBACK_H
#define UNDERSTUDY_VPCIB_FALLBACK_H

#include "bus.h"

int fallback_init(void);
void fallback_exit(void);

/* How many instructions the fallback has carried out. */
u64 fallback_count(void);

/**
 * fallback_carry_out - carry out an instruction
 * @at: the access that faulted
 * @cpu: its registers; the instruction pointer is moved on
 * @code: its bytes
 * @bytes: how many bytes are available
 *
 * Return: 0; -EOPNOTSUPP if it can't be carried out: nothing has changed.
 */
int fallback_carry_out(struct access_bus *at, struct processor *cpu, const u8 *code,
		       size_t bytes);

#endif
