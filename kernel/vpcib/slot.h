/* SPDX-License-Identifier: GPL-2.0 */
/* A place in the kernel's code where one instruction of somebody else's is run. */
#ifndef UNDERSTUDY_VPCIB_SLOT_H
#define UNDERSTUDY_VPCIB_SLOT_H

#include "transplant.h"

int slot_init(void);
void slot_exit(void);

/**
 * slot_run - run an instruction on registers, and on memory of ours
 * @what: decoded
 * @cpu: its registers; RSP stays as it is, and so does the instruction pointer
 * @operand: where its operand is to be, in this module's own data
 *
 * Vectors and the like are those that the processor has.  Interrupts are off, and nobody else
 * runs one.
 * Return: 0; -EOPNOTSUPP if the processor did not carry it out: no register has changed.
 */
int slot_run(const struct transplant *what, struct processor *cpu, void *operand);

#endif
