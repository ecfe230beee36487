/* SPDX-License-Identifier: MIT */
/*
 * What a scheduler says of itself, as text: each item ends with a zero.  Its name and
 * its summary; 1 if it needs a disk's model, else 0; how many tunables, and for each its
 * name, help, initial, smallest and largest value; how many counters, and for each its name
 * and help.
 */
#ifndef UNDERSTUDY_DESCRIBE_H
#define UNDERSTUDY_DESCRIBE_H

#include "../../core/scheduler.h"

/* 0, or -ENOSPC if it does not fit. */
int describe(const struct scheduler *scheduler, char *text, size_t bytes);

#endif
