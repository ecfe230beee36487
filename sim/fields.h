/* SPDX-License-Identifier: MIT */
/* Copies values between the fields of a state and an array in the fields' order. */
#ifndef UNDERSTUDY_FIELDS_H
#define UNDERSTUDY_FIELDS_H

#include "../core/scheduler.h"

static inline void fields_set(void *state, const struct sched_field *fields, u32 count,
			      const u64 *values)
{
	u32 i;

	for (i = 0; i < count; i++)
		*sched_field_value(state, &fields[i]) = values[i];
}

/* Set all fields to their initial values. */
static inline void fields_reset(void *state, const struct sched_field *fields,
				u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		*sched_field_value(state, &fields[i]) = fields[i].initial;
}

static inline void fields_get(void *state, const struct sched_field *fields, u32 count,
			      u64 *values)
{
	u32 i;

	for (i = 0; i < count; i++)
		values[i] = *sched_field_value(state, &fields[i]);
}

#endif
