/* SPDX-License-Identifier: MIT */
/*
 * The declaration of a scheduler or a policy as text. Each item ends with a zero byte. The items are: the name and
 * the summary; 1 if the scheduler needs a model of the disk, else 0; the number of tunables, and
 * the name, help, initial, smallest and largest value of each; the number of counters, and the name
 * and help of each.
 */
#ifndef UNDERSTUDY_DESCRIBE_H
#define UNDERSTUDY_DESCRIBE_H

#include "../../core/declaration.h"

#define DESCRIBE_BYTES 65536

/* Returns 0, or -ENOSPC if the text does not fit. */
int describe(const struct declaration *declaration, bool needs_model, char *text,
	     size_t bytes);

/*
 * Return a number other than 0, which is different for other numbers of tunables and counters, and
 * almost certainly for anything else that is described.
 */
u64 describe_digest(const struct declaration *declaration, bool needs_model);

#endif
