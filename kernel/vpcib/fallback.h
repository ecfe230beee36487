/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of an instruction at a register that instruction.h does not know: what the
 * papers' daemon made of it (Jones 2010 section 3.1.2), but at once, and out of everybody's way.
 *
 * Under the card's lock a page is filled with what its registers hold; the processor carries
 * the instruction out on that; and what has changed there is written to the card, each register
 * once, from the lowest up, in the narrowest access that covers it.  Nobody else can touch the
 * card meanwhile, so nobody's accesses are lost.
 *
 * What the daemon did not see is not seen: a value that a register holds already, and reads.
 */
#ifndef UNDERSTUDY_VPCIB_FALLBACK_H
#define UNDERSTUDY_VPCIB_FALLBACK_H

#include "bus.h"

int fallback_init(void);
void fallback_exit(void);

/* How many it has carried out. */
u64 fallback_count(void);

/**
 * fallback_carry_out - carry one out
 * @at: where it has faulted
 * @cpu: its registers; the instruction pointer is moved on
 * @code: its bytes
 * @bytes: how many of them are at hand
 *
 * Return: 0; -EOPNOTSUPP if it can't: nothing has changed.
 */
int fallback_carry_out(struct access_bus *at, struct processor *cpu, const u8 *code,
		       size_t bytes);

#endif
