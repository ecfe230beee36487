// SPDX-License-Identifier: MIT
/*
 * Writes everything that the kernel's trace rings hold now to standard output, page by page.
 *
 *   drain FILE...   files like tracing/per_cpu/cpu0/trace_pipe_raw
 *
 * cat would not stop when the rings are empty, but wait for more data.
 */
#include <fcntl.h>
#include <unistd.h>

#include "complain.h"
#include "options.h"

#define PAGE_BYTES 4096

static int drain(const char *path)
{
	int file = open(path, O_RDONLY | O_NONBLOCK);
	char page[PAGE_BYTES];
	ssize_t got;

	if (file < 0)
		return complain(path);
	while ((got = read(file, page, sizeof(page))) > 0)
		if (fwrite(page, 1, (size_t)got, stdout) != (size_t)got)
			return complain("output");
	if (got < 0 && errno != EAGAIN)
		return complain(path);
	close(file);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("drain FILE...\n", stderr);
		return EXIT_USAGE;
	}
	for (int i = 1; i < argc; i++)
		if (drain(argv[i]))
			return EXIT_FAILED;
	return fflush(stdout) ? complain("output") : 0;
}
