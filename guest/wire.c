// SPDX-License-Identifier: MIT
/*
 * The guest's side of the wire.  The wire is memory that the guest shares with the host
 * (understudy_devices/platforms/vm/wire.py).  No device is involved, so the guest never waits for
 * the host. A transfer costs only the instructions that copy the data.
 *
 *   wire take   writes the host's data to standard output
 *   wire give   stores its standard input for the host
 *
 * The first page holds two numbers of bytes: those for the guest and those for the host.  The
 * host's data begin in the second page.  The guest's data begin in the first page after the host's
 * data.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <unistd.h>

#include "wire.h"

#define PAGE_BYTES 4096u

struct header {
	uint64_t taken; /* bytes for the guest */
	uint64_t given;
};

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

/*
 * Fills the window from standard input.  Returns the number of bytes read, or a negative number on
 * error.  The number is less than a window only at the end of the input.
 */
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
	for (uint64_t done = 0; done < header->taken; done += WIRE_WINDOW_BYTES) {
		uint64_t left = header->taken - done;
		char *window = wire_map(wire, PAGE_BYTES + done);

		if (!window ||
		    write_all(window,
			      left < WIRE_WINDOW_BYTES ? left : WIRE_WINDOW_BYTES))
			return EXIT_FAILED;
		munmap(window, WIRE_WINDOW_BYTES);
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

		if (start + done + WIRE_WINDOW_BYTES > wire->bytes) {
			fprintf(stderr, "the results exceed the wire's %llu bytes\n",
				(unsigned long long)wire->bytes);
			return EXIT_FAILED;
		}
		window = wire_map(wire, start + done);
		got = window ? read_all(window, WIRE_WINDOW_BYTES) : -1;
		if (got < 0)
			return EXIT_FAILED;
		munmap(window, WIRE_WINDOW_BYTES);
		done += (uint64_t)got;
	} while (got == WIRE_WINDOW_BYTES);
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
