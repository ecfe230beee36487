/* SPDX-License-Identifier: GPL-2.0 */
/* A place in the kernel's code where a foreign instruction is run. */
#ifndef UNDERSTUDY_VPCIB_SLOT_H
#define UNDERSTUDY_VPCIB_SLOT_H

#include "transplant.h"

int slot_init(void);
void slot_exit(void);

/**
 * slot_run - run an instruction on registers, and on memory of ours
 * @what: decoded
 * @cpu: its registers; RSP and the instruction pointer stay as they are
 * @operand: address for its operand, in this module's own data
 *
 * Vector registers and the like are those of the processor.  The caller has interrupts off and is
 * the only one in slot_run.
 * Return: 0; -EOPNOTSUPP if the processor did not carry it out: no register has changed.
 */
int slot_run(const struct transplant *what, struct processor *cpu, void *operand);

#endif
