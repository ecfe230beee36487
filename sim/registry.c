// SPDX-License-Identifier: MIT
#include "registry.h"

/* The linker sets these symbols to the bounds of the section "workloads". */
extern const struct workload *const first_workload[] __asm__("__start_workloads")
	__attribute__((visibility("hidden")));
extern const struct workload *const end_of_workloads[] __asm__("__stop_workloads")
	__attribute__((visibility("hidden")));

u32 workload_count(void)
{
	return end_of_workloads - first_workload;
}

const struct workload *workload_get(u32 index)
{
	return first_workload[index];
}
