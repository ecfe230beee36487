// SPDX-License-Identifier: MIT
#include <string.h>

#include "../../sim/fields.h"
#include "schedulers.h"

const struct scheduler *registry_find(const char *name)
{
	u32 i;

	for (i = 0; i < scheduler_count(); i++) {
		if (!strcmp(scheduler_get(i)->name, name))
			return scheduler_get(i);
	}
	return NULL;
}

void *registry_new_state(const struct scheduler *scheduler)
{
	void *state = port_zalloc(scheduler->state_size);

	if (state)
		fields_reset(state, scheduler->tunables, scheduler->nr_tunables);
	return state;
}
