// SPDX-License-Identifier: MIT
/*
 * Sends messages from the guest to QEMU.
 *
 *   port exit CODE     ends the VM at once through isa-debug-exit at 0x501;
 *                      QEMU's own exit code is then 2 * CODE + 1
 *   port notify TEXT   writes TEXT and a newline to isa-debugcon at 0xe9
 *   port rest          lets the host stop and save the VM at exactly this instruction: the program
 *                      writes to pvpanic at 0x505, and QEMU's settings decide whether the VM stops
 *   port follow FILE   FILE holds "WANTED ARRIVED COMPLETED" (the throttle's progress);
 *                      notifies "progress COMPLETED WANTED" once a second until all
 *                      wanted requests have completed; fails if all have arrived and
 *                      none completes for STARVED_SECONDS
 */
#include <sys/io.h>
#include <time.h>

#include "complain.h"
#include "options.h"

#define EXIT_PORT 0x501
#define NOTIFY_PORT 0xe9
#define REST_PORT 0x505
#define REST 1
#define STARVED_SECONDS 100

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
	fprintf(stderr, "port 0x%x: the VM still runs: it has no isa-debug-exit\n",
		EXIT_PORT);
	return EXIT_FAILED;
}

static void send(const char *text)
{
	while (*text)
		outb((unsigned char)*text++, NOTIFY_PORT);
	outb('\n', NOTIFY_PORT);
}

static int notify(const char *text)
{
	if (take_port(NOTIFY_PORT))
		return EXIT_FAILED;
	send(text);
	return 0;
}

static int rest(void)
{
	if (take_port(REST_PORT))
		return EXIT_FAILED;
	outb(REST, REST_PORT);
	return 0;
}

struct progress {
	unsigned long long wanted, arrived, completed;
};

static int read_progress(const char *path, struct progress *now)
{
	FILE *file = fopen(path, "r");
	int fields = file ? fscanf(file, "%llu %llu %llu", &now->wanted, &now->arrived,
				   &now->completed)
			  : 0;

	if (file)
		fclose(file);
	if (fields == 3)
		return 0;
	fprintf(stderr, "%s: no progress to read\n", path);
	return EXIT_FAILED;
}

static int follow(const char *path)
{
	struct progress now, before = { 0 };
	unsigned int starved = 0;
	char line[64];

	if (take_port(NOTIFY_PORT))
		return EXIT_FAILED;
	for (;;) {
		if (read_progress(path, &now))
			return EXIT_FAILED;
		snprintf(line, sizeof(line), "progress %llu %llu", now.completed,
			 now.wanted);
		send(line);
		if (now.completed >= now.wanted)
			return 0;
		if (now.arrived < now.wanted || now.completed > before.completed)
			starved = 0;
		if (starved++ == STARVED_SECONDS) {
			fprintf(stderr, "%llu of %llu requests do not complete\n",
				now.wanted - now.completed, now.wanted);
			return EXIT_FAILED;
		}
		before = now;
		nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exit"))
		return leave(option_number("exit", argv[2], 0, 127));
	if (argc == 3 && !strcmp(argv[1], "notify"))
		return notify(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "rest"))
		return rest();
	if (argc == 3 && !strcmp(argv[1], "follow"))
		return follow(argv[2]);
	fputs("port exit CODE | port notify TEXT | port rest | port follow FILE\n",
	      stderr);
	return EXIT_USAGE;
}
