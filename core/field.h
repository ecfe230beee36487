/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tunables and counters: the numbers in the state of a scheduler, a prefetcher or a replacement
 * policy that users can see.
 */
#ifndef UNDERSTUDY_FIELD_H
#define UNDERSTUDY_FIELD_H

#include "port.h"

/*
 * Largest length of a name, and largest number of tunables or of counters; the kernel sets both
 * limits.
 */
#define SCHED_NAME_MAX 15
#define SCHED_FIELDS_MAX 16

/**
 * struct sched_field - a u64 in a state that users can see
 * @name: name in sysfs and on the command line, made of a-z, 0-9 and _; no other field of the
 *	state has this name. The name of a time ends in _ns; times are scaled with the disk in
 *	wall-clock runs
 * @help: one line for people
 * @offset: offset of the u64 in the state, in bytes
 * @initial: default value, from @min to @max (tunables only)
 * @min: smallest value that is accepted (tunables only)
 * @max: largest value that is accepted (tunables only)
 */
struct sched_field {
	const char *name;
	const char *help;
	size_t offset;
	u64 initial;
	u64 min;
	u64 max;
};

#define SCHED_TUNABLE(type, field, initial_, min_, max_, help_)                        \
	{                                                                              \
		.name = #field, .help = help_, .offset = offsetof(struct type, field), \
		.initial = initial_, .min = min_, .max = max_                          \
	}

#define SCHED_COUNTER(type, field, help_)                                             \
	{                                                                             \
		.name = #field, .help = help_, .offset = offsetof(struct type, field) \
	}

static inline u64 *sched_field_value(void *state, const struct sched_field *field)
{
	return (u64 *)((char *)state + field->offset);
}

#endif
