// SPDX-License-Identifier: MIT
/*
 * Reads and writes random pages of a whole disk, bypassing the page cache.  Each process issues
 * requests for pages of 4 KiB at uniformly random offsets until it is killed.  Requests are reads,
 * except for a given share of writes.  The papers measured their disk with one process and no
 * writes (PERFORM 2010 section 5).  The throttle's accuracy is measured in the same way.  Writes
 * contain zeros, so that a disk in memory can stay sparse.
 *
 * In the log, `offset` is the byte offset on the disk, plus 1 for a write (byte offsets are
 * multiples of 4096).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include "complain.h"
#include "disk_size.h"
#include "options.h"
#include "reads.h"

struct random_pages {
	const char *device;
	int fd;
	uint64_t pages;
	uint32_t writes_percent;
	uint64_t think_ns;
};

static void run(void *context, struct reads_process *process)
{
	const struct random_pages *random = context;
	struct draw *draw = &process->draw;
	void *page = reads_buffer();
	void *zeros = reads_buffer();

	for (;;) {
		bool write = draw_below(draw, 100) < random->writes_percent;
		uint64_t at = draw_below(draw, random->pages) * PAGE_BYTES;

		reads_page(process, random->fd, write ? zeros : page, at, write,
			   at | write);
		if (random->think_ns)
			reads_sleep(random->think_ns);
	}
}

static int open_device(struct random_pages *random)
{
	int access = random->writes_percent ? O_RDWR : O_RDONLY;
	uint64_t bytes = 0;

	random->fd = open(random->device, access | O_DIRECT | O_CLOEXEC);
	if (random->fd < 0 || disk_size(random->fd, &bytes))
		return complain(random->device);
	random->pages = bytes / PAGE_BYTES;
	if (random->pages)
		return 0;
	fprintf(stderr, "%s: smaller than one page\n", random->device);
	return EXIT_FAILED;
}

static void usage(void)
{
	fputs("random --device DISK [--writes PERCENT] [--think-us 0]\n" READS_USAGE,
	      stderr);
	exit(EXIT_USAGE);
}

static const struct option long_options[] = {
	READS_LONG_OPTIONS,
	{ "device", required_argument, NULL, 'd' },
	{ "writes", required_argument, NULL, 'w' },
	{ "think-us", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 }
};

static void parse(int argc, char **argv, struct random_pages *random,
		  struct reads_options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'd')
			random->device = optarg;
		else if (option == 'w')
			random->writes_percent =
				option_number("--writes", optarg, 0, 100);
		else if (option == 't')
			random->think_ns =
				option_number("--think-us", optarg, 0, UINT32_MAX) *
				1000;
		else if (!reads_option(options, option, optarg))
			usage();
	}
	if (optind != argc || !random->device)
		usage();
}

int main(int argc, char **argv)
{
	struct reads_options options = { .processes = 1,
					 .seed = 1,
					 .log_max = LOG_MAX_DEFAULT };
	struct random_pages random = { .fd = -1 };
	struct reads_play play = { .run = run, .context = &random };

	parse(argc, argv, &random, &options);
	if (open_device(&random))
		return EXIT_FAILED;
	return reads_run(&options, &play);
}
