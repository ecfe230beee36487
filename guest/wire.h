/* SPDX-License-Identifier: MIT */
/*
 * Memory that guest and host share (understudy/platforms/vm/wire.py).  Two environment variables
 * describe it (the kernel takes NAME=VALUE from its command line): WIRE, its physical address, and
 * WIRE_BYTES.
 */
#ifndef UNDERSTUDY_GUEST_WIRE_H
#define UNDERSTUDY_GUEST_WIRE_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "complain.h"
#include "options.h"

#define WIRE_WINDOW_BYTES (1u << 20) /* mapped at a time: each page costs time */

struct wire {
	int memory;
	uint64_t address;
	uint64_t bytes;
};

static inline uint64_t wire_setting(const char *name)
{
	const char *text = getenv(name);

	return option_number(name, text ? text : "", 1, UINT64_MAX);
}

static inline int wire_open(struct wire *wire)
{
	wire->address = wire_setting("WIRE");
	wire->bytes = wire_setting("WIRE_BYTES");
	wire->memory = open("/dev/mem", O_RDWR | O_CLOEXEC);
	return wire->memory < 0 ? complain("/dev/mem") : 0;
}

/* The window at `at`, or NULL. */
static inline void *wire_map(const struct wire *wire, uint64_t at)
{
	void *window = mmap(NULL, WIRE_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			    wire->memory, (off_t)(wire->address + at));

	if (window != MAP_FAILED)
		return window;
	complain("the wire");
	return NULL;
}

#endif
