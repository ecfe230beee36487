/* SPDX-License-Identifier: MIT */
/*
 * A scheduler's description of itself, as text in which each item ends with a zero. Its name and
 * its summary; 1 if it needs a disk's model, else 0; the number of tunables, and for each its name,
 * help, initial, smallest and largest value; the number of counters, and for each its name and
 * help.
 */
#ifndef UNDERSTUDY_DESCRIBE_H
#define UNDERSTUDY_DESCRIBE_H

#include "../../core/scheduler.h"

/* 0, or -ENOSPC if it does not fit. */
int describe(const struct scheduler *scheduler, char *text, size_t bytes);

#endif
