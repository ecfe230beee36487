/* SPDX-License-Identifier: MIT */
/*
 * Memory that the guest and the host share (understudy_devices/platforms/vm/wire.py).  Two
 * environment variables describe it: WIRE, the memory's physical address, and WIRE_BYTES.  The
 * kernel passes NAME=VALUE words on its command line to init as environment variables.
 */
#ifndef UNDERSTUDY_GUEST_WIRE_H
#define UNDERSTUDY_GUEST_WIRE_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "complain.h"
#include "options.h"

/*
 * The size of a mapping.  Mapping each page costs time, so the whole memory is not mapped at once.
 */
#define WIRE_WINDOW_BYTES (1u << 20)

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

/* Maps the window at offset `at` in the shared memory; returns NULL on failure. */
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
