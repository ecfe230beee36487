/* SPDX-License-Identifier: MIT */
#ifndef UNDERSTUDY_IDIOMS_H
#define UNDERSTUDY_IDIOMS_H

#include <stdbool.h>
#include <stdint.h>

struct idiom {
	const char *name;
	uint64_t (*run)(void *page);
};

/* They end with a NULL. */
extern const struct idiom exact[], free_of_order[];

#endif
