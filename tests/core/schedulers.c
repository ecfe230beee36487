// SPDX-License-Identifier: MIT
#include <string.h>

#include "../../sim/fields.h"
#include "schedulers.h"

/* The linker sets these symbols to the start and end of the section "schedulers". */
extern const struct scheduler *const first_scheduler[] __asm__("__start_schedulers")
	__attribute__((visibility("hidden")));
extern const struct scheduler *const end_of_schedulers[] __asm__("__stop_schedulers")
	__attribute__((visibility("hidden")));

u32 registry_count(void)
{
	return end_of_schedulers - first_scheduler;
}

const struct scheduler *registry_get(u32 index)
{
	return first_scheduler[index];
}

const struct scheduler *registry_find(const char *name)
{
	u32 i;

	for (i = 0; i < registry_count(); i++) {
		if (!strcmp(registry_get(i)->name, name))
			return registry_get(i);
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
