// SPDX-License-Identifier: MIT
/*
 * The guest's side of the wire (understudy/platforms/vm/wire.py): memory that it shares
 * with the host.  No device takes part, so nothing waits for the host, and what goes
 * over it costs instructions only.
 *
 *   wire take   writes what the host has left there to the output
 *   wire give   leaves its input there for the host
 *
 * Its first page says how many bytes there are each way; the host's begin in the next
 * page, the guest's in the first page after them.  The environment says where the wire
 * is (the kernel puts NAME=VALUE of its command line there): WIRE, its physical
 * address, and WIRE_BYTES.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "complain.h"
#include "options.h"

#define PAGE_BYTES 4096u
#define WINDOW_BYTES (1u << 20) /* mapped at a time: mapping costs, page by page */

struct header {
	uint64_t taken; /* by the guest */
	uint64_t given;
};

struct wire {
	int memory;
	uint64_t address;
	uint64_t bytes;
};

static uint64_t setting(const char *name)
{
	const char *text = getenv(name);

	return option_number(name, text ? text : "", 1, UINT64_MAX);
}

static int wire_open(struct wire *wire)
{
	wire->address = setting("WIRE");
	wire->bytes = setting("WIRE_BYTES");
	wire->memory = open("/dev/mem", O_RDWR | O_CLOEXEC);
	return wire->memory < 0 ? complain("/dev/mem") : 0;
}

/* The window at `at`, or NULL. */
static void *wire_map(const struct wire *wire, uint64_t at)
{
	void *window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			    wire->memory, (off_t)(wire->address + at));

	if (window != MAP_FAILED)
		return window;
	complain("the wire");
	return NULL;
}

static int write_all(const char *from, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(STDOUT_FILENO, from, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return complain("output");
		from += written;
		bytes -= (size_t)written;
	}
	return 0;
}

/* Fill the window; what was read, less only at the end of the input, or negative. */
static ssize_t read_all(char *to, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = read(STDIN_FILENO, to + got, bytes - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			complain("input");
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int take(const struct wire *wire, struct header *header)
{
	for (uint64_t done = 0; done < header->taken; done += WINDOW_BYTES) {
		uint64_t left = header->taken - done;
		char *window = wire_map(wire, PAGE_BYTES + done);

		if (!window ||
		    write_all(window, left < WINDOW_BYTES ? left : WINDOW_BYTES))
			return EXIT_FAILED;
		munmap(window, WINDOW_BYTES);
	}
	return 0;
}

static int give(const struct wire *wire, struct header *header)
{
	uint64_t start =
		PAGE_BYTES + (header->taken + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	uint64_t done = 0;
	ssize_t got;

	do {
		char *window;

		if (start + done + WINDOW_BYTES > wire->bytes) {
			fprintf(stderr, "the wire: more than its %llu bytes\n",
				(unsigned long long)wire->bytes);
			return EXIT_FAILED;
		}
		window = wire_map(wire, start + done);
		got = window ? read_all(window, WINDOW_BYTES) : -1;
		if (got < 0)
			return EXIT_FAILED;
		munmap(window, WINDOW_BYTES);
		done += (uint64_t)got;
	} while (got == WINDOW_BYTES);
	header->given = done;
	return 0;
}

int main(int argc, char **argv)
{
	bool taking = argc == 2 && !strcmp(argv[1], "take");
	bool giving = argc == 2 && !strcmp(argv[1], "give");
	struct wire wire;
	struct header *header;

	if (!taking && !giving) {
		fputs("wire take | wire give\n", stderr);
		return EXIT_USAGE;
	}
	if (wire_open(&wire))
		return EXIT_FAILED;
	header = wire_map(&wire, 0);
	if (!header)
		return EXIT_FAILED;
	return taking ? take(&wire, header) : give(&wire, header);
}
