/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slot: a location in this module's code where a driver's instruction is stored and run.
 */
#ifndef UNDERSTUDY_VPCIB_SLOT_H
#define UNDERSTUDY_VPCIB_SLOT_H

#include "transplant.h"

int slot_init(void);
void slot_exit(void);

/**
 * slot_run - run an instruction on given registers and on memory of this module
 * @what: the instruction
 * @cpu: the registers.  RSP and the instruction pointer are not changed.
 * @operand: address of the operand, in this module's data
 *
 * The instruction uses the vector and x87 registers that are in the processor.  The caller must
 * have interrupts off, and must ensure that no other processor is in slot_run.  Return: 0, or
 * -EOPNOTSUPP if the processor did not execute the instruction.  On error no register has changed.
 */
int slot_run(const struct transplant *what, struct processor *cpu, void *operand);

#endif
