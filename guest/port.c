// SPDX-License-Identifier: MIT
/*
 * The guest's two wires to QEMU.
 *
 *   port exit CODE     ends the VM at once through isa-debug-exit at 0x501;
 *                      QEMU's own exit code is then 2 * CODE + 1
 *   port notify TEXT   writes TEXT and a newline to isa-debugcon at 0xe9
 */
#include <errno.h>
#include <string.h>
#include <sys/io.h>

#include "options.h"

#define EXIT_PORT 0x501
#define NOTIFY_PORT 0xe9

static int take_port(unsigned short port)
{
	if (!ioperm(port, 1, 1))
		return 0;
	fprintf(stderr, "port 0x%x: %s (errno %d)\n", port, strerror(errno), errno);
	return EXIT_FAILED;
}

static int leave(unsigned char code)
{
	if (take_port(EXIT_PORT))
		return EXIT_FAILED;
	outb(code, EXIT_PORT);
	fprintf(stderr, "port 0x%x: the VM goes on: it has no isa-debug-exit\n",
		EXIT_PORT);
	return EXIT_FAILED;
}

static int notify(const char *text)
{
	if (take_port(NOTIFY_PORT))
		return EXIT_FAILED;
	while (*text)
		outb((unsigned char)*text++, NOTIFY_PORT);
	outb('\n', NOTIFY_PORT);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exit"))
		return leave(option_number("exit", argv[2], 0, 127));
	if (argc == 3 && !strcmp(argv[1], "notify"))
		return notify(argv[2]);
	fputs("port exit CODE | port notify TEXT\n", stderr);
	return EXIT_USAGE;
}
